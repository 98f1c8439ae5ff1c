package dev.isola.testing.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The files of the repository that git tracks or would track, with their hashes. */
final class SourceFiles {
  private final Path repository;
  private final TreeMap<String, String> hashes = new TreeMap<>();

  private SourceFiles(Path repository) {
    this.repository = repository;
  }

  static SourceFiles read(Path repository) throws IOException {
    SourceFiles files = new SourceFiles(repository);
    String names = files.git("ls-files", "-z", "--cached", "--others", "--exclude-standard");
    for (String name : names.split("\0")) {
      Path file = repository.resolve(name);
      if (Files.isSymbolicLink(file)) {
        files.hashes.put(name, hash("link " + Files.readSymbolicLink(file)));
      } else if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        String mode = Files.isExecutable(file) ? "x" : "-";
        files.hashes.put(name, mode + hash(Files.readAllBytes(file)));
      }
    }
    return files;
  }

  SourceFiles readAgain() throws IOException {
    return read(repository);
  }

  Set<String> names() {
    return hashes.keySet();
  }

  String hashOf(String name) {
    return hashes.getOrDefault(name, "");
  }

  /** Returns a text that differs whenever one of these files differs in its name or content. */
  String fingerprint(Predicate<String> wanted) {
    StringBuilder text = new StringBuilder();
    hashes.forEach(
        (name, hash) -> {
          if (wanted.test(name)) {
            text.append(name).append(' ').append(hash).append('\n');
          }
        });
    return hash(text.toString());
  }

  /** Returns whether a file is below one of {@code folders} or is one of them. */
  static boolean isBelow(String name, Iterable<String> folders) {
    for (String folder : folders) {
      if (folder.equals(".") || name.equals(folder) || name.startsWith(folder + "/")) {
        return true;
      }
    }
    return false;
  }

  /** Returns the files that differ from those of commit {@code base}, with uncommitted ones. */
  Set<String> changedSince(String base) throws IOException {
    List<String> names = new ArrayList<>();
    names.addAll(List.of(git("diff", "--name-only", "-z", base).split("\0")));
    names.addAll(List.of(git("ls-files", "-z", "--others", "--exclude-standard").split("\0")));
    names.remove("");
    return Set.copyOf(names);
  }

  /** Returns what git prints; fails with git's own message. */
  String git(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("git", "-C", repository.toString()));
    command.addAll(List.of(words));
    return Commands.run(repository, command);
  }

  static String hash(String text) {
    return hash(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String hash(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }
}
