#include "rules/text/document.h"

#include <gtest/gtest.h>

#include "tests/rules/rules_text.h"

namespace weir::document_test {
namespace {

// The tree in one line, so that two can be compared: {a: 1@1:4}.
std::string Drawn(const Node& node, bool with_marks) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::kNull: text = "null"; break;
    case Node::Kind::kScalar:
      text = node.quoted ? "'" + std::string(node.text) + "'" : std::string(node.text);
      break;
    case Node::Kind::kList:
      for (const Child& child : node.children) text += Drawn(*child.node, with_marks) + ",";
      text = "[" + text + "]";
      break;
    case Node::Kind::kMap:
      for (const Child& child : node.children) {
        text += Drawn(*child.key, with_marks) + ":" + Drawn(*child.node, with_marks) + ",";
      }
      text = "{" + text + "}";
      break;
  }
  if (!with_marks) return text;
  return text + "@" + std::to_string(node.mark.line) + "." + std::to_string(node.mark.column);
}

std::string Read(const std::string& text, bool with_marks = false) {
  Source source("f", text, {});
  const auto document = Document::Read(source);
  if (source.error_count() > 0) return ToString(source.SortedErrors());
  return Drawn(document->root(), with_marks);
}

TEST(Document, IsATreeOfMapsListsAndScalars) {
  EXPECT_EQ(Read("a: 1\nb: [x, 'y', \"z\"]\nc:\n  - {d: ~}\n  -\n"),
            "{a:1,b:[x,'y','z',],c:[{d:null,},null,],}");
  EXPECT_EQ(Read("just text"), "just text");
}

TEST(Document, TellsThePlaceOfEverything) {
  EXPECT_EQ(Read("a: 1\nb:\n  - x\n", true), "{a@1.1:1@1.4,b@2.1:[x@3.5,]@3.3,}@1.1");
}

TEST(Document, AMissingValueIsWhereItWouldBe) {
  EXPECT_EQ(Read("a:\n\nb: 1\n", true), "{a@1.1:null@1.2,b@3.1:1@3.4,}@1.1");
  EXPECT_EQ(Read("- \n\n- x\n", true), "[null@1.1,x@3.3,]@1.1");
}

TEST(Document, JsonIsTheSameTree) {
  const std::string json =
      "{\"a\": [1, -2.5e3, true, null, \"x\\n\\u00e4\\/\"],\n \"b\": {}, \"c\": []}";
  EXPECT_EQ(Read(json), "{'a':[1,-2.5e3,true,null,'x\nä/',],'b':{},'c':[],}");
  // A comment makes it YAML, read by the other parser.
  EXPECT_EQ(Read(json + " # comment", true), Read(json, true));
}

TEST(Document, JsonPairsItsSurrogates) {
  EXPECT_EQ(Read(R"({"a": "\ud83d\ude00"})"), "{'a':'😀',}");
  EXPECT_TRUE(Has(Read(R"({"a": "\ud83d"})"), "f:1:")) << "alone it is no character";
}

TEST(Document, FlowStyleThatIsNoJsonIsYaml) {
  EXPECT_EQ(Read("{a: b, c: [d, e f]}"), "{a:b,c:[d,e f,],}");
  EXPECT_EQ(Read("[\"a\", 'b']"), "['a','b',]");
}

TEST(Document, NotesEveryDoubledKey) {
  EXPECT_EQ(Read("a: 1\nb: 2\na: 3\nb: 4\n"),
            "f:3:1: key `a` is here a second time; the first is on line 1\n"
            "f:4:1: key `b` is here a second time; the first is on line 2\n");
  EXPECT_EQ(Read("{\"a\": 1,\n \"a\": 2}"),
            "f:2:2: key `a` is here a second time; the first is on line 1\n");
  std::string many;
  for (int i = 0; i < 40; ++i) many += "k" + std::to_string(i) + ": 0\n";
  EXPECT_TRUE(Has(Read(many + "k7: 1\n"), "f:41:1: key `k7` is here a second time")) << "hashed";
}

TEST(Document, AliasesStandForWhatTheyName) {
  EXPECT_EQ(Read("a: &x {b: 1}\nc: *x\n"), "{a:{b:1,},c:{b:1,},}");
  EXPECT_TRUE(Has(Read("a: *x\n"), "f:1:"));
}

TEST(Document, NothingContainsItself) {
  EXPECT_TRUE(Has(Read("a: &x [*x]\n"), "f:1:8: this alias stands for something that contains it"));
}

TEST(Document, BillionLaughsAreNotLaughed) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) text += ", " + before;
    text += "]\n";
  }
  EXPECT_TRUE(Has(Read(text), "more than 4000000 parts"));
}

TEST(Document, AliasesDoNotDeepenBeyondTheBound) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  EXPECT_TRUE(Has(Read(text), "more than 64 levels"));
}

TEST(Document, DeepNestingIsRefusedInEveryNotation) {
  const size_t deep = 1'000'000;
  std::string maps, blocks;
  for (size_t i = 0; i < 10'000; ++i) maps += "{\"a\":";
  for (size_t i = 0; i < 10'000; ++i) blocks += "- ";
  for (const std::string& text :
       {std::string(deep, '['), std::string(deep, '{'), maps, blocks + "x"}) {
    EXPECT_TRUE(Has(Read(text), "levels deep")) << text.substr(0, 20);
  }
  EXPECT_FALSE(Has(Read(std::string(64, '[') + std::string(64, ']')), "deep"));
  EXPECT_TRUE(Has(Read(std::string(65, '[') + std::string(65, ']')), "deep"));
}

TEST(Document, OtherRecursionsOfTheGrammarEndToo) {
  for (const char* piece : {"? ", "!a ", "&a ", "!!map ", "a: ", "? - ", "[? ", "{? ", "- ? "}) {
    std::string text;
    while (text.size() < 200'000) text += piece;
    EXPECT_TRUE(Has(Read(text), "f:")) << piece;
  }
}

TEST(Document, ManyMissingValuesOnOneLineTakeNoLonger) {
  EXPECT_TRUE(Has(Read("[" + std::string(300'000, ',')), "f:1:"));
}

TEST(Document, OnlyTextIsRead) {
  EXPECT_EQ(Read(std::string("a: \0 b", 6)),
            "f:1:4: not text in UTF-8 without control characters\n");
  EXPECT_EQ(Read("a: 1\nb: \x04 c\n"), "f:2:4: not text in UTF-8 without control characters\n");
  for (const char* bad : {"a: \xff", "a: \xc3", "a: \xc0\x80", "a: \xed\xa0\x80",
                          "a: \xf4\x90\x80\x80", "a: \x80", "a: \xe2\x82",
                          "\xff\xfe"
                          "a"}) {
    EXPECT_TRUE(Has(Read(bad), "not text in UTF-8")) << bad;
  }
  EXPECT_EQ(Read("a: äöü €😀"), "{a:äöü €😀,}");
  EXPECT_EQ(Read("\xef\xbb\xbf"
                 "a: 1\n"),
            "{a:1,}")
      << "a byte order mark is no text";
}

TEST(Document, SyntaxErrorsHaveAPlace) {
  EXPECT_TRUE(Has(Read("a: [1, 2\nb: 3\n"), "f:2:"));
  EXPECT_TRUE(Has(Read("a: 1\n b: 2\n"), "f:2:"));
  EXPECT_TRUE(Has(Read("a: \"x"), "f:1:"));
}

TEST(Document, IsOnePerFile) {
  EXPECT_EQ(Read("--- {a: 1}\n--- {b: 2}\n"), "f:2:1: a second document: one file holds one\n");
  EXPECT_EQ(Read(""), "f: the file is empty\n");
  EXPECT_EQ(Read("# only a comment\n"), "f: the file is empty\n");
}

TEST(Document, IsBoundedInSize) {
  EXPECT_TRUE(Has(Read(std::string(Document::kMostBytes + 1, ' ')), "16 MiB"));
}

TEST(Document, TagsOfOthersAreRefused) {
  EXPECT_TRUE(Has(Read("a: !python/object x\n"), "f:1:4: the tag"));
  EXPECT_EQ(Read("a: !!str 5\n"), "{a:'5',}");
  EXPECT_EQ(Read("a: !!int 5\n"), "{a:5,}");
}

TEST(Document, KeysAreWords) {
  EXPECT_TRUE(Has(Read("? [a]\n: 1\n"), "a key must be a word"));
  EXPECT_TRUE(Has(Read("{}: 1\n"), "a key must be a word"));
  EXPECT_TRUE(Has(Read("~: 1\n"), "a key must be a word"));
}

}  // namespace
}  // namespace weir::document_test
