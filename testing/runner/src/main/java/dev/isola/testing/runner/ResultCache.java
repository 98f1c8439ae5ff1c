package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Keeps what modules were built to, and the results of their tests, under the keys of {@link
 * ModuleKeys}, in a folder of the user that all clones share. Entries that were not used for two
 * weeks are removed.
 */
final class ResultCache {
  private static final Duration KEPT = Duration.ofDays(14);

  private final Path folder;

  ResultCache(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
  }

  Path folder() {
    return folder;
  }

  /** Returns the folder of the user's caches. */
  static Path defaultFolder() {
    String caches = System.getenv("XDG_CACHE_HOME");
    Path all =
        caches == null || caches.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(caches);
    return all.resolve("isola/check");
  }

  boolean hasBuild(String key) {
    return Files.exists(folder.resolve(key + ".tar"));
  }

  /** Unpacks the build with this key into the module's target folder. */
  void restoreBuild(String key, Module module) throws IOException {
    Path archive = folder.resolve(key + ".tar");
    Path target = Files.createDirectories(module.folder().resolve("target"));
    // Files get the present time, so that they are newer than the sources.
    tar("-xmf", archive.toString(), "-C", target.toString());
    used(archive);
  }

  void saveBuild(String key, Module module) throws IOException {
    Path archive = folder.resolve(key + ".tar");
    if (Files.exists(archive)) {
      used(archive);
      return;
    }
    Path unfinished = Files.createTempFile(folder, key, ".tmp");
    tar(
        "-cf",
        unfinished.toString(),
        "--exclude=./check",
        "--exclude=./dist",
        "--exclude=./surefire-reports",
        "-C",
        module.folder().resolve("target").toString(),
        ".");
    Files.move(unfinished, archive, StandardCopyOption.ATOMIC_MOVE);
  }

  Optional<List<TestResult>> results(String key) throws IOException {
    Path file = folder.resolve(key + ".tsv");
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    used(file);
    return Optional.of(Files.readAllLines(file).stream().map(TestResult::parse).toList());
  }

  void saveResults(String key, List<TestResult> results) throws IOException {
    Path unfinished = Files.createTempFile(folder, key, ".tmp");
    Files.write(unfinished, results.stream().map(TestResult::line).toList());
    Files.move(unfinished, folder.resolve(key + ".tsv"), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Removes what was not used for a while. */
  void prune() throws IOException {
    Instant limit = Instant.now().minus(KEPT);
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : entries.toList()) { // of modules, and hashes of formatted sources
        if (Files.isRegularFile(entry)
            && Files.getLastModifiedTime(entry).toInstant().isBefore(limit)) {
          Files.deleteIfExists(entry);
        }
      }
    }
  }

  private static void used(Path entry) throws IOException {
    Files.setLastModifiedTime(entry, FileTime.from(Instant.now()));
  }

  private static void tar(String... arguments) throws IOException {
    Commands.run(Path.of("."), Stream.concat(Stream.of("tar"), Stream.of(arguments)).toList());
  }
}
