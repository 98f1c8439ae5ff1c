package dev.isola.host.image;

import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A registry delivers an image: the input has the index, the manifest, the configuration and a
 * layer, separated by {@value #SEPARATOR}. Digests and sizes are right where a document names them
 * by a placeholder. The image is unpacked or refused, and nothing is written outside of its folder.
 */
public final class OciImageFuzz {
  private static final String SEPARATOR = "\n----\n";
  private static final Path FOLDER = folder();

  private OciImageFuzz() {}

  private static Path folder() {
    try {
      Path created = Files.createTempDirectory("isola-fuzz-image");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> removeQuietly(created)));
      return created;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    List<byte[]> parts = split(input);
    if (parts.size() != 4) {
      return;
    }
    Path layout = FOLDER.resolve("layout");
    Path root = FOLDER.resolve("root");
    Path blobs = layout.resolve("blobs/sha256");
    Files.createDirectories(blobs);
    Files.createDirectory(root);
    Files.writeString(FOLDER.resolve("outside"), "untouched");
    try {
      Map<String, String> layer = store(blobs, "LAYER", parts.get(3));
      Map<String, String> config = store(blobs, "CONFIG", fill(parts.get(2), layer));
      byte[] manifest = fill(fill(parts.get(1), layer), config);
      byte[] index = fill(parts.get(0), store(blobs, "MANIFEST", manifest));
      Files.write(layout.resolve("index.json"), index);
      unpack(layout, root);
      if (!Files.readString(FOLDER.resolve("outside")).equals("untouched")
          || names(FOLDER).size() != 3) {
        throw new AssertionError("written outside of the image: " + names(FOLDER));
      }
    } finally {
      for (Path one : names(FOLDER)) {
        remove(one);
      }
    }
  }

  private static void unpack(Path layout, Path root) throws IOException {
    Budget budget = new Budget(new ImageLimits(1 << 20, 1000));
    ImportWarnings warnings = new ImportWarnings();
    try (RootfsTree tree = new RootfsTree(root);
        Unpacker unpacker = new Unpacker(tree, false, budget, warnings)) {
      new OciSource(layout, Optional.empty(), "an image")
          .unpack(new UnpackContext(unpacker, root, budget, warnings, false, _ -> {}));
    } catch (SandboxException e) {
      // How an image may be refused.
    }
  }

  private static Map<String, String> store(Path blobs, String name, byte[] content)
      throws IOException {
    String digest = ContentDigest.of(content);
    Files.write(blobs.resolve(digest.substring("sha256:".length())), content);
    return Map.of("$" + name, digest, "$SIZE_" + name, Integer.toString(content.length));
  }

  private static byte[] fill(byte[] document, Map<String, String> values) {
    String text = new String(document, StandardCharsets.ISO_8859_1);
    for (Map.Entry<String, String> value : values.entrySet()) {
      text = text.replace(value.getKey(), value.getValue());
    }
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static List<byte[]> split(byte[] input) {
    List<byte[]> parts = new ArrayList<>();
    for (String part : new String(input, StandardCharsets.ISO_8859_1).split(SEPARATOR, 4)) {
      parts.add(part.getBytes(StandardCharsets.ISO_8859_1));
    }
    return parts;
  }

  private static List<Path> names(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.toList();
    }
  }

  private static void remove(Path path) throws IOException {
    try (Stream<Path> all = Files.walk(path)) {
      for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(one);
      }
    }
  }

  private static void removeQuietly(Path path) {
    try {
      remove(path);
    } catch (IOException e) {
      // Is left in the folder for temporary files.
    }
  }
}
