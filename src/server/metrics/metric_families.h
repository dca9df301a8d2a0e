// Metrics on their way to Prometheus' text: what is added one after the other under one name stands
// together.
#pragma once

#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>
#include <vector>

namespace weir {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

inline double Number(uint64_t n) { return static_cast<double>(n); }

class MetricFamilies {
 public:
  void Counter(const std::string& name, const std::string& help, double value,
               MetricLabels labels = {}) {
    Add(name, help, prometheus::MetricType::Counter, std::move(labels)).counter.value = value;
  }
  void Gauge(const std::string& name, const std::string& help, double value,
             MetricLabels labels = {}) {
    Add(name, help, prometheus::MetricType::Gauge, std::move(labels)).gauge.value = value;
  }
  prometheus::ClientMetric::Histogram& Histogram(const std::string& name, const std::string& help,
                                                 MetricLabels labels) {
    return Add(name, help, prometheus::MetricType::Histogram, std::move(labels)).histogram;
  }
  std::string Text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return out.str();
  }

 private:
  prometheus::ClientMetric& Add(const std::string& name, const std::string& help,
                                prometheus::MetricType type, MetricLabels labels) {
    if (families_.empty() || families_.back().name != name) {
      families_.push_back({name, help, type, {}});
    }
    prometheus::ClientMetric& metric = families_.back().metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace weir
