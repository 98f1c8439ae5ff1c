package dev.isola.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How many times faster a provider was than another subject in the same run.
 *
 * @param times the median of the other subject divided by the median of the provider; below 1 the
 *     other was faster
 */
public record Comparison(
    String benchmark, int concurrency, String subject, String than, double times) {

  /** Compares every provider with every subject that is not a provider. */
  static List<Comparison> of(List<Result> results, Set<String> providers) {
    List<Comparison> comparisons = new ArrayList<>();
    for (Result provider : results) {
      if (providers.contains(provider.subject())) {
        for (Result other : results) {
          if (!providers.contains(other.subject())
              && other.benchmark().equals(provider.benchmark())
              && other.concurrency() == provider.concurrency()) {
            comparisons.add(
                new Comparison(
                    provider.benchmark(),
                    provider.concurrency(),
                    provider.subject(),
                    other.subject(),
                    other.medianMs() / provider.medianMs()));
          }
        }
      }
    }
    return comparisons;
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("benchmark", benchmark);
    json.put("concurrency", concurrency);
    json.put("subject", subject);
    json.put("than", than);
    json.put("times", Rounding.of(times, 2));
    return json;
  }
}
