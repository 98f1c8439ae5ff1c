package dev.isola.host.image;

import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The package sources of the host: {@code sources.list} in both formats. Unreadable files are
 * skipped; the tools have a default mirror.
 *
 * @param folder {@code /etc/apt}
 */
record AptSources(Path folder) {
  private static final Pattern OPTION =
      Pattern.compile("Acquire::(Check-Valid-Until|https?::Proxy(::[^ ]+)?) \"[^\"]+\";");

  /** One suite on one mirror. */
  record Source(String uri, String suite, List<String> components, Optional<String> signedBy) {
    /** Returns the source in the one-line format. */
    String line() {
      return "deb "
          + signedBy.map(key -> "[signed-by=" + key + "] ").orElse("")
          + uri
          + " "
          + suite
          + " "
          + String.join(" ", components);
    }
  }

  /** Returns the sources of a suite, its updates and its security fixes. */
  List<Source> of(String suite) {
    List<Source> matching =
        all().stream()
            .filter(
                source ->
                    source.suite().equals(suite)
                        || source.suite().equals(suite + "-updates")
                        || source.suite().equals(suite + "-security"))
            .filter(source -> source.components().contains("main"))
            .distinct()
            .toList();
    // Security fixes alone do not make a system.
    return matching.stream().anyMatch(source -> source.suite().equals(suite))
        ? matching
        : List.of();
  }

  /** Returns the apt settings of the host that it needs to reach its mirror. */
  static List<String> options() {
    List<String> options = new ArrayList<>();
    if (ExternalTool.find("apt-config").isPresent()) {
      try {
        new ExternalTool("apt-config", "apt", Duration.ofSeconds(30), line -> {})
            .run(
                List.of("dump", "Acquire"),
                out ->
                    new String(out.readNBytes(1 << 20), StandardCharsets.UTF_8)
                        .lines()
                        .filter(line -> OPTION.matcher(line).matches())
                        .forEach(options::add));
      } catch (IOException | SandboxException none) {
        return List.of();
      }
    }
    return options;
  }

  private List<Source> all() {
    List<Path> files = new ArrayList<>();
    files.add(folder.resolve("sources.list"));
    try (DirectoryStream<Path> more =
        Files.newDirectoryStream(folder.resolve("sources.list.d"), "*.{list,sources}")) {
      more.forEach(files::add);
    } catch (IOException none) {
      // Only sources.list exists.
    }
    files.sort(null);
    List<Source> sources = new ArrayList<>();
    for (Path file : files) {
      try {
        List<String> lines = Files.readAllLines(file);
        if (file.toString().endsWith(".sources")) {
          stanzas(lines, sources);
        } else {
          lines.forEach(line -> line(line, sources));
        }
      } catch (IOException unreadable) {
        // Skipped.
      }
    }
    return sources;
  }

  /** Parses {@code deb [signed-by=KEY] URI SUITE COMPONENT...} */
  private static void line(String text, List<Source> to) {
    String line = text.replaceFirst("#.*", "").strip();
    Optional<String> key = Optional.empty();
    if (!line.startsWith("deb ")) {
      return;
    }
    line = line.substring(4).strip();
    if (line.startsWith("[")) {
      int end = line.indexOf(']');
      if (end < 0) {
        return;
      }
      for (String option : line.substring(1, end).strip().split("\\s+")) {
        if (option.startsWith("signed-by=")) {
          key = key(option.substring(10));
        }
      }
      line = line.substring(end + 1).strip();
    }
    String[] words = line.split("\\s+");
    if (words.length >= 3) {
      to.add(new Source(words[0], words[1], List.of(words).subList(2, words.length), key));
    }
  }

  /**
   * Parses paragraphs of {@code Key: value}; a line that starts with a blank continues the previous
   * one.
   */
  private static void stanzas(List<String> lines, List<Source> to) {
    Map<String, String> stanza = new LinkedHashMap<>();
    String last = "";
    for (String line : lines) {
      if (line.isBlank()) {
        stanza(stanza, to);
        stanza.clear();
      } else if (Character.isWhitespace(line.charAt(0))) {
        stanza.merge(last, line.strip(), (a, b) -> a + " " + b);
      } else if (!line.startsWith("#") && line.indexOf(':') > 0) {
        last = line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT);
        stanza.put(last, line.substring(line.indexOf(':') + 1).strip());
      }
    }
    stanza(stanza, to);
  }

  private static void stanza(Map<String, String> stanza, List<Source> to) {
    List<String> types = words(stanza, "types");
    if (!types.contains("deb") || stanza.getOrDefault("enabled", "yes").equals("no")) {
      return;
    }
    for (String uri : words(stanza, "uris")) {
      for (String suite : words(stanza, "suites")) {
        List<String> components = words(stanza, "components");
        to.add(new Source(uri, suite, components, key(stanza.getOrDefault("signed-by", ""))));
      }
    }
  }

  private static List<String> words(Map<String, String> stanza, String key) {
    String text = stanza.getOrDefault(key, "").strip();
    return text.isEmpty() ? List.of() : List.of(text.split("\\s+"));
  }

  /** Returns the path of a key. Keys embedded in the file cannot be passed on. */
  private static Optional<String> key(String text) {
    return Optional.of(text).filter(path -> path.startsWith("/") && path.indexOf(' ') < 0);
  }
}
