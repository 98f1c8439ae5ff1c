package dev.isola.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a snapshot contains.
 *
 * <pre>{@code
 * SnapshotOptions.folder("src").exclude("target/**").tag("commit", "1a2b3c")
 * }</pre>
 *
 * @param kind {@code filesystem}, or {@code memory} for running processes too, where the provider
 *     of the sandbox supports it
 * @param allowSecrets whether to store the memory of a sandbox that has secret variables
 * @param scope {@code everything} that the sandbox wrote, or {@code folder}; empty for the server's
 *     choice
 * @param path folder; empty for the workspace
 * @param includes patterns of paths to include; empty for all
 * @param excludes patterns of paths to exclude
 */
public record SnapshotOptions(
    String kind,
    boolean allowSecrets,
    Optional<String> scope,
    Optional<String> path,
    List<String> includes,
    List<String> excludes,
    Map<String, String> tags) {
  /** Everything that the sandbox wrote. */
  public static final SnapshotOptions EVERYTHING =
      new SnapshotOptions(
          "filesystem", false, Optional.empty(), Optional.empty(), List.of(), List.of(), Map.of());

  public SnapshotOptions {
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
    tags = Map.copyOf(tags);
  }

  /** Returns options for the workspace only. */
  public static SnapshotOptions workspace() {
    return EVERYTHING.withScope("folder");
  }

  /** Returns options for one folder only. */
  public static SnapshotOptions folder(String path) {
    return workspace().withPath(path);
  }

  /** Returns options for all files and the running processes. */
  public static SnapshotOptions memory() {
    return EVERYTHING.withKind("memory");
  }

  public SnapshotOptions withKind(String name) {
    return new SnapshotOptions(name, allowSecrets, scope, path, includes, excludes, tags);
  }

  /** Returns options that store the memory of a sandbox although it has secret variables. */
  public SnapshotOptions allowingSecrets() {
    return new SnapshotOptions(kind, true, scope, path, includes, excludes, tags);
  }

  public SnapshotOptions withScope(String name) {
    return new SnapshotOptions(
        kind, allowSecrets, Optional.of(name), path, includes, excludes, tags);
  }

  public SnapshotOptions withPath(String folder) {
    return new SnapshotOptions(
        kind, allowSecrets, scope, Optional.of(folder), includes, excludes, tags);
  }

  /** Returns options with another pattern of paths to include. */
  public SnapshotOptions include(String pattern) {
    return new SnapshotOptions(
        kind, allowSecrets, scope, path, and(includes, pattern), excludes, tags);
  }

  /** Returns options with another pattern of paths to exclude. */
  public SnapshotOptions exclude(String pattern) {
    return new SnapshotOptions(
        kind, allowSecrets, scope, path, includes, and(excludes, pattern), tags);
  }

  /** Returns options with another tag to attach to the snapshot. */
  public SnapshotOptions tag(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(tags);
    more.put(name, value);
    return new SnapshotOptions(kind, allowSecrets, scope, path, includes, excludes, more);
  }

  private static List<String> and(List<String> words, String word) {
    List<String> more = new ArrayList<>(words);
    more.add(word);
    return more;
  }

  Map<String, Object> document() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("tags", tags);
    json.put("kind", kind);
    if (allowSecrets) {
      json.put("allowSecrets", true);
    }
    scope.ifPresent(name -> json.put("scope", name));
    path.ifPresent(folder -> json.put("path", folder));
    if (!includes.isEmpty()) {
      json.put("include", includes);
    }
    if (!excludes.isEmpty()) {
      json.put("exclude", excludes);
    }
    return json;
  }
}
