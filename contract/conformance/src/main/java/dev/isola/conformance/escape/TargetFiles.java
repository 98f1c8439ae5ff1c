package dev.isola.conformance.escape;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Host files that no sandbox may see, in folders that a careless provider shares. They are
 * world-readable and world-writable, so that only the isolation protects them.
 */
final class TargetFiles implements AutoCloseable {
  private static final List<Path> ETC_AND_USR = List.of(Path.of("/etc"), Path.of("/usr"));

  private final String mark;
  private final Map<String, Path> places = new HashMap<>();
  private final Set<String> folders = new TreeSet<>();

  TargetFiles(String mark) {
    this.mark = mark;
    put("tmp", Path.of("/tmp"));
    put("var-tmp", Path.of("/var/tmp"));
    put("shm", Path.of("/dev/shm"));
    put("home", Path.of(System.getProperty("user.home", "/nonexistent")));
    String runtime = System.getenv("XDG_RUNTIME_DIR");
    put("etc-secret", Path.of("/etc"));
    put("run", Path.of(runtime == null || runtime.isEmpty() ? "/run" : runtime));
  }

  /** Creates no file if the folder does not exist or this user cannot write to it. */
  private void put(String name, Path folder) {
    Path file = folder.resolve(mark + "-file");
    try {
      Files.writeString(file, mark + "\n", StandardOpenOption.CREATE_NEW);
      places.put(name, file);
      folders.add(folder.toString());
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
    } catch (IOException e) {
      remove(file);
      places.remove(name);
    }
  }

  Map<String, List<String>> facts() {
    Map<String, List<String>> facts = new HashMap<>();
    places.forEach((name, file) -> facts.put(name, List.of(file.toString())));
    for (Path folder : ETC_AND_USR) {
      facts.put(
          folder.getFileName().toString(), List.of(folder.resolve(mark + "-made").toString()));
    }
    facts.put("folders", List.copyOf(folders));
    return facts;
  }

  /** Returns the content of a host file, or empty if it does not exist. */
  static Optional<String> content(String file) {
    try {
      return Optional.of(Files.readString(Path.of(file)));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static void remove(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    places.values().forEach(TargetFiles::remove);
    ETC_AND_USR.forEach(folder -> remove(folder.resolve(mark + "-made")));
  }
}
