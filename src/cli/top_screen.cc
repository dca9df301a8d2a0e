#include "cli/top_screen.h"

#include <algorithm>

namespace weir {
namespace {

constexpr size_t kMostSubjects = 10;
constexpr size_t kMostSeconds = 60;
constexpr size_t kLongestName = 60;
constexpr size_t kRate = 10, kCost = 12;            // columns
constexpr size_t kNarrowList = 34, kWideList = 60;  // of subjects
constexpr size_t kHeadLines = 2;

// Pieces of a line, each with its ink.
class Line {
 public:
  Line& Add(std::string text, Ink ink = Ink::kPlain) {
    pieces_.push_back({std::move(text), ink});
    return *this;
  }
  std::string Drawn(size_t columns, bool colours) const {
    std::string line;
    for (const Piece& piece : pieces_) {
      const std::string cut = Cut(piece.text, columns);
      columns -= Columns(cut);
      line += Terminal::Painted(piece.ink, cut, colours);
      if (columns == 0) break;
    }
    return line;
  }

 private:
  struct Piece {
    std::string text;
    Ink ink;
  };
  std::vector<Piece> pieces_;
};

// The widths of the table's columns; 0: not shown.
struct Table {
  size_t name, cost, seconds;

  explicit Table(size_t columns) {
    cost = columns >= 60 ? kCost : 0;
    seconds = columns >= 76 ? std::min(kMostSeconds, columns - 61) : 0;
    const size_t taken =
        2 * (1 + kRate) + (cost > 0 ? 1 + cost : 0) + (seconds > 0 ? 2 + seconds : 0);
    name = std::clamp<size_t>(columns > taken ? columns - taken : 0, 6, kLongestName);
  }
};

// The last seconds as a line of bars.
std::string Sparkline(const std::vector<uint64_t>& points, size_t most_points) {
  static constexpr std::string_view kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t count = std::min(points.size(), most_points);
  const auto first = points.end() - static_cast<std::ptrdiff_t>(count);
  const uint64_t most = count == 0 ? 0 : *std::max_element(first, points.end());
  std::string line;
  for (auto point = first; point != points.end(); ++point) {
    const double share = most == 0 ? 0 : static_cast<double>(*point) / static_cast<double>(most);
    line += kBars[std::min<size_t>(8, static_cast<size_t>(share * 8 + (share > 0 ? 0.999 : 0)))];
  }
  return line;
}

struct List {
  std::string title, counted;
  const std::vector<TopSubject>* subjects;
};

std::vector<List> ListsOf(const TopResource& resource) {
  if (resource.busiest.empty()) return {};
  std::vector<List> lists = {{"busiest", "requests", &resource.busiest},
                             {"most refused", "refusals", &resource.most_refused}};
  if (!resource.would_refuse.empty()) {
    lists.push_back({"shadow would refuse", "times", &resource.would_refuse});
  }
  return lists;
}

// Lists of subjects stand side by side, as many as fit; the others below them.
struct Sides {
  size_t indent, count, width;

  explicit Sides(size_t columns) {
    indent = columns < 60 ? 2 : 4;
    const size_t room = columns > indent ? columns - indent : 1;
    count = std::clamp<size_t>((room + 3) / (kNarrowList + 3), 1, 3);
    width = std::min(kWideList, std::max<size_t>(12, (room + 3) / count - 3));
  }
};

std::string Cell(const std::string& name, const std::string& count, size_t width) {
  const size_t number = std::max<size_t>(count.size(), std::min<size_t>(10, width / 3));
  const size_t rest = width > number + 1 ? width - number - 1 : 1;
  return Fitted(name, rest) + fmt::format(" {:>{}}", count, number);
}

size_t SubjectLines(const TopResource& resource, const Sides& sides, size_t subjects) {
  if (subjects == 0) return 0;
  const std::vector<List> lists = ListsOf(resource);
  size_t lines = 0;
  for (size_t i = 0; i < lists.size(); i += sides.count) {
    size_t longest = 0;
    for (size_t j = i; j < std::min(lists.size(), i + sides.count); ++j) {
      longest = std::max(longest, lists[j].subjects->size());
    }
    lines += longest == 0 ? 0 : 1 + std::min(longest, subjects);
  }
  return lines;
}

class Drawing {
 public:
  Drawing(ScreenSize size, bool colours) : size_(size), colours_(colours), table_(size.columns) {}

  void Add(const Line& line) { lines_.push_back(line.Drawn(size_.columns, colours_)); }

  void Title(const TopView& view) {
    const std::string left = PlainFormat("weir top  {}  {}", view.server, view.time);
    const size_t resources = view.resources.size() + view.more;
    std::string rates =
        fmt::format("  admitted {}/s  refused {}/s", view.admitted_rate, view.refused_rate);
    std::string count = fmt::format("  {} resource{}", resources, resources == 1 ? "" : "s") +
                        (view.unused > 0 ? fmt::format(" (and {} unused)", view.unused) : "");
    std::string quit = size_.rows > 0 ? "q quits" : "";
    const size_t used = Columns(left) + Columns(rates);
    const auto fits = [&](size_t more) { return used + more <= size_.columns; };
    if (!fits(2 + quit.size())) quit.clear();
    if (fits(count.size() + (quit.empty() ? 0 : 2 + quit.size()))) rates += count;
    if (!quit.empty()) rates.append(size_.columns - Columns(left + rates) - quit.size(), ' ');
    Add(Line().Add(left, Ink::kBold).Add(rates).Add(quit, Ink::kDim));
  }

  void Head() {
    std::string head = Fitted("resource", table_.name) +
                       fmt::format(" {:>{}} {:>{}}", "admitted", kRate, "refused", kRate);
    if (table_.cost > 0) head += fmt::format(" {:>{}}", "cost so far", table_.cost);
    if (table_.seconds > 0) head += fmt::format("  the last {} seconds", table_.seconds);
    Add(Line().Add(head, Ink::kBold));
  }

  void Resource(const TopResource& resource, size_t subjects) {
    const auto last = [](const std::vector<uint64_t>& all) { return all.empty() ? 0 : all.back(); };
    Line line;
    line.Add(Fitted(resource.name, table_.name));
    line.Add(fmt::format(" {:>{}}/s", last(resource.admitted), kRate - 2));
    line.Add(fmt::format(" {:>{}}/s", last(resource.refused), kRate - 2),
             last(resource.refused) > 0 ? Ink::kRed : Ink::kPlain);
    if (table_.cost > 0) line.Add(fmt::format(" {:>{}}", resource.cost, table_.cost));
    if (table_.seconds > 0) line.Add("  " + Sparkline(resource.admitted, table_.seconds));
    Add(line);
    Subjects(resource, subjects);
  }

  void Subjects(const TopResource& resource, size_t most) {
    const Sides sides(size_.columns);
    const std::vector<List> lists = ListsOf(resource);
    for (size_t i = 0; most > 0 && i < lists.size(); i += sides.count) {
      const size_t end = std::min(lists.size(), i + sides.count);
      Rows({lists.begin() + static_cast<std::ptrdiff_t>(i),
            lists.begin() + static_cast<std::ptrdiff_t>(end)},
           sides, most);
    }
  }

  void Rows(const std::vector<List>& lists, const Sides& sides, size_t most) {
    size_t longest = 0;
    for (const List& list : lists) longest = std::max(longest, list.subjects->size());
    if (longest == 0) return;
    const auto row = [&](const auto& cell, Ink ink) {
      std::string text(sides.indent, ' ');
      for (size_t i = 0; i < lists.size(); ++i) text += (i == 0 ? "" : "   ") + cell(lists[i]);
      Add(Line().Add(text, ink));
    };
    row([&](const List& list) { return Cell(list.title, list.counted, sides.width); }, Ink::kBold);
    for (size_t n = 0; n < std::min(most, longest); ++n) {
      row(
          [&](const List& list) {
            if (n >= list.subjects->size()) return Fitted("", sides.width);
            const TopSubject& subject = (*list.subjects)[n];
            return Cell(subject.name, std::to_string(subject.count), sides.width);
          },
          Ink::kPlain);
    }
  }

  std::vector<std::string> Take() { return std::move(lines_); }

 private:
  const ScreenSize size_;
  const bool colours_;
  const Table table_;
  std::vector<std::string> lines_;
};

// As many subjects as leave room for every resource.
size_t SubjectsThatFit(const TopView& view, ScreenSize size, size_t room) {
  if (size.rows == 0) return kMostSubjects;
  const Sides sides(size.columns);
  for (size_t subjects = kMostSubjects; subjects > 0; --subjects) {
    size_t lines = 0;
    for (const TopResource& one : view.resources) lines += 1 + SubjectLines(one, sides, subjects);
    if (lines <= room) return subjects;
  }
  return 0;
}

}  // namespace

size_t MostResources(ScreenSize size) {
  if (size.rows == 0) return SIZE_MAX;
  return size.rows > kHeadLines ? size.rows - kHeadLines : 0;
}

std::vector<std::string> DrawTop(const TopView& view, ScreenSize size, bool colours) {
  Drawing drawing(size, colours);
  drawing.Title(view);
  const bool trouble = !view.trouble.empty();
  if (trouble) drawing.Add(Line().Add(view.trouble, Ink::kRed));
  if (size.rows == 0 || size.rows > (trouble ? 2 : 1)) drawing.Head();
  const size_t head = kHeadLines + (trouble ? 1 : 0);
  size_t room = size.rows == 0 ? SIZE_MAX : size.rows > head ? size.rows - head : 0;
  size_t more = view.more;
  size_t shown = std::min(view.resources.size(), room);
  if ((more > 0 || shown < view.resources.size()) && shown > 0 && shown == room) --shown;
  more += view.resources.size() - shown;
  if (more > 0 && room > 0) --room;  // for the line that says so
  TopView fitting = view;
  fitting.resources.resize(shown);
  const size_t subjects = SubjectsThatFit(fitting, size, room);
  for (const TopResource& one : fitting.resources) drawing.Resource(one, subjects);
  if (more > 0 && size.rows > head) {
    drawing.Add(Line().Add(fmt::format("… and {} more", more), Ink::kDim));
  }
  std::vector<std::string> lines = drawing.Take();
  if (size.rows > 0 && lines.size() > size.rows) lines.resize(size.rows);
  return lines;
}

}  // namespace weir
