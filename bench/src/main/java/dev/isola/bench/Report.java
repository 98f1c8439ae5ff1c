package dev.isola.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The outcome of a run: the results, the skipped subjects and the machine. */
public record Report(
    List<Result> results,
    List<Comparison> comparisons,
    List<Density> densities,
    List<MemoryForks> memoryForks,
    List<SkippedSubject> skipped,
    Map<String, Object> machine) {
  public Report {
    results = List.copyOf(results);
    comparisons = List.copyOf(comparisons);
    densities = List.copyOf(densities);
    memoryForks = List.copyOf(memoryForks);
    skipped = skipped.stream().distinct().toList();
  }

  /** Returns true if no subject could be measured. */
  public boolean isEmpty() {
    return results.isEmpty() && densities.isEmpty() && memoryForks.isEmpty();
  }

  /** Returns the report as maps, lists, text and numbers; a missing ratio is an empty Optional. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("results", results.stream().map(Result::json).toList());
    json.put("comparisons", comparisons.stream().map(Comparison::json).toList());
    json.put("density", densities.stream().map(Density::json).toList());
    json.put("memoryForks", memoryForks.stream().map(MemoryForks::json).toList());
    json.put("absent", skipped.stream().map(SkippedSubject::json).toList());
    json.put("machine", machine);
    return json;
  }
}
