package dev.isola.engine.secret;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/** Where the key for encrypted values comes from, as the configuration states it. */
public sealed interface KeySource {
  /** A file with 32 bytes, or with their Base64 form. */
  record File(Path path) implements KeySource {
    @Override
    public String toString() {
      return "file:" + path;
    }
  }

  /** An environment variable of the server with the Base64 form of 32 bytes. */
  record Variable(String name) implements KeySource {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,255}");

    @Override
    public String toString() {
      return "env:" + name;
    }
  }

  /** A shell command, such as one of a key management service, that prints what a variable has. */
  record Program(String command) implements KeySource {
    @Override
    public String toString() {
      return "command:" + command;
    }
  }

  /** Parses a source; empty if the text is none. */
  static Optional<KeySource> parse(String text) {
    int colon = text.indexOf(':');
    String kind = colon < 0 ? "" : text.substring(0, colon);
    String rest = text.substring(colon + 1).strip();
    return switch (kind) {
      case "file" -> file(rest);
      case "env" ->
          Variable.NAME.matcher(rest).matches()
              ? Optional.of(new Variable(rest))
              : Optional.empty();
      case "command" -> rest.isEmpty() ? Optional.empty() : Optional.of(new Program(rest));
      default -> Optional.empty();
    };
  }

  private static Optional<KeySource> file(String text) {
    try {
      Path path = Path.of(text);
      return path.isAbsolute() ? Optional.of(new File(path.normalize())) : Optional.empty();
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }
}
