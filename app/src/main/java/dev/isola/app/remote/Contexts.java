package dev.isola.app.remote;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Servers that the user has logged in to, stored in {@code $XDG_CONFIG_HOME/isola/contexts}. Only
 * the owner can read the file, because it contains keys.
 */
public final class Contexts {
  /** A server and a key for it. */
  record Context(String name, String url, String key) {
    @Override
    public String toString() {
      return name + " (" + url + ")";
    }
  }

  private final Path config;
  private final Path folder;
  private final Path file;

  private Contexts(Path config) {
    this.config = config;
    this.folder = config.resolve("isola");
    this.file = folder.resolve("contexts");
  }

  static Contexts of(Map<String, String> env) {
    String config = env.getOrDefault("XDG_CONFIG_HOME", "");
    return new Contexts(
        config.startsWith("/")
            ? Path.of(config)
            : Path.of(env.getOrDefault("HOME", "/root"), ".config"));
  }

  /** Returns the file, which may not exist. */
  public static Path file(Map<String, String> env) {
    return of(env).file;
  }

  Map<String, Context> all() {
    Properties lines = read();
    Map<String, Context> all = new TreeMap<>();
    for (String line : lines.stringPropertyNames()) {
      if (line.endsWith(".url")) {
        String name = line.substring(0, line.length() - ".url".length());
        all.put(
            name, new Context(name, lines.getProperty(line), lines.getProperty(name + ".key", "")));
      }
    }
    return all;
  }

  Optional<Context> current() {
    return Optional.ofNullable(read().getProperty("current")).map(all()::get);
  }

  /** Stores a context and makes it the current one. */
  void put(Context context) {
    Map<String, Context> all = all();
    all.put(context.name(), context);
    write(all, Optional.of(context.name()));
  }

  void use(String name) {
    write(all(), Optional.of(name));
  }

  /** Removes a context. If it was the current one, no context is current afterwards. */
  void remove(String name) {
    Optional<String> current =
        current().map(Context::name).filter(context -> !context.equals(name));
    Map<String, Context> all = all();
    all.remove(name);
    write(all, current);
  }

  private Properties read() {
    Properties lines = new Properties();
    try {
      lines.load(new StringReader(Files.readString(file)));
    } catch (NoSuchFileException e) {
      // no login yet
    } catch (IOException | IllegalArgumentException e) {
      throw unusable("cannot be read", e);
    }
    return lines;
  }

  /** Replaces the file atomically; it is never readable by other users. */
  private void write(Map<String, Context> all, Optional<String> current) {
    StringBuilder text = new StringBuilder("# Servers and API keys of isola login.\n");
    current.ifPresent(name -> text.append("current=").append(name).append('\n'));
    for (Context context : all.values()) {
      text.append(context.name()).append(".url=").append(escaped(context.url())).append('\n');
      text.append(context.name()).append(".key=").append(escaped(context.key())).append('\n');
    }
    try {
      if (!Files.isDirectory(folder)) {
        Files.createDirectories(config);
        Files.createDirectory(
            folder,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      }
      Path draft =
          Files.createTempFile(
              folder,
              "contexts",
              ".new",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      try {
        Files.writeString(draft, text, StandardCharsets.UTF_8);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(draft);
      }
    } catch (AtomicMoveNotSupportedException e) {
      throw unusable("cannot be replaced", e);
    } catch (IOException e) {
      throw unusable("cannot be written", e);
    }
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\");
  }

  private SandboxException unusable(String what, Exception e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            file + " " + what + ": " + e.getMessage(),
            "correct or remove the file, then run isola login URL")
        .exception(e);
  }
}
