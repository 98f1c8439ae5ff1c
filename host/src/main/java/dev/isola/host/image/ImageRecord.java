package dev.isola.host.image;

import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/** The metadata of an image, stored in {@code image.properties} next to its root. */
final class ImageRecord {
  static final String FILE = "image.properties";

  private ImageRecord() {}

  /** Reads the image in {@code folder}; empty if there is none. */
  static Optional<Image> read(Path folder) throws IOException {
    Properties text = new Properties();
    try (Reader reader = Files.newBufferedReader(folder.resolve(FILE))) {
      text.load(reader);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      throw new IOException(folder.resolve(FILE) + " cannot be read: " + e.getMessage(), e);
    }
    try {
      return Optional.of(image(folder, text));
    } catch (DateTimeException | NumberFormatException e) {
      throw new IOException(folder.resolve(FILE) + " is corrupt: " + e.getMessage(), e);
    }
  }

  private static Image image(Path folder, Properties text) {
    Map<String, String> env = new TreeMap<>();
    List<String> notes = new ArrayList<>();
    for (String key : text.stringPropertyNames()) {
      if (key.startsWith("env.")) {
        env.put(key.substring(4), text.getProperty(key));
      }
    }
    for (int i = 0; text.containsKey("note." + i); i++) {
      notes.add(text.getProperty("note." + i));
    }
    return new Image(
        ImageName.ofFolder(folder.getFileName().toString()),
        folder.resolve("rootfs"),
        Instant.parse(text.getProperty("created", "1970-01-01T00:00:00Z")),
        text.getProperty("source", "unknown"),
        text.getProperty("digest", ""),
        Long.parseLong(text.getProperty("size", "0")),
        Long.parseLong(text.getProperty("files", "0")),
        env,
        Optional.ofNullable(text.getProperty("user")),
        Optional.ofNullable(text.getProperty("workdir")),
        text.getProperty("architecture", Architecture.UNKNOWN),
        !text.getProperty("owners", "kept").equals("lost"),
        notes);
  }

  static void write(Path folder, Image image) throws IOException {
    Properties text = new Properties();
    text.setProperty("created", image.createdAt().toString());
    text.setProperty("source", image.source());
    text.setProperty("digest", image.digest());
    text.setProperty("size", Long.toString(image.size()));
    text.setProperty("files", Long.toString(image.files()));
    text.setProperty("architecture", image.architecture());
    text.setProperty("owners", image.ownersKept() ? "kept" : "lost");
    image.user().ifPresent(user -> text.setProperty("user", user));
    image.workdir().ifPresent(workdir -> text.setProperty("workdir", workdir));
    image.env().forEach((key, value) -> text.setProperty("env." + key, value));
    for (int i = 0; i < image.notes().size(); i++) {
      text.setProperty("note." + i, image.notes().get(i));
    }
    StringWriter lines = new StringWriter();
    text.store(lines, null);
    Files.writeString(folder.resolve(FILE), lines.toString());
  }
}
