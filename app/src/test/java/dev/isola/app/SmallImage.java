package dev.isola.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/**
 * A busybox image that, like {@code base}, sets a user and a working folder other than the
 * workspace.
 */
public final class SmallImage {
  public static final String NAME = "small";

  private static final Path BUSYBOX = Path.of("/bin/busybox");

  private static final List<String> PROGRAMS =
      List.of(
          "sh",
          "cat",
          "chmod",
          "chown",
          "cp",
          "dirname",
          "echo",
          "find",
          "grep",
          "head",
          "id",
          "ln",
          "ls",
          "mkdir",
          "mknod",
          "mv",
          "printf",
          "pwd",
          "readlink",
          "rm",
          "rmdir",
          "seq",
          "sha256sum",
          "sleep",
          "sort",
          "stat",
          "test",
          "touch",
          "true",
          "wc",
          "xargs");

  private SmallImage() {}

  /** Adds the image to the store in {@code shared}. */
  public static void addTo(Path shared, Path scratch) throws IOException {
    addTo(shared, scratch, NAME, "first\n");
  }

  /** Adds the image under another name; {@code version} is the content of {@code /etc/version}. */
  static void addTo(Path shared, Path scratch, String name, String version) throws IOException {
    add(shared, scratch, name, version, "root:x:0:\nuser:x:1000:\n");
  }

  /** Adds the image under another name, with {@code groups} in addition to those of its users. */
  static void addWithGroups(Path shared, Path scratch, String name, String groups)
      throws IOException {
    add(shared, scratch, name, "first\n", "root:x:0:\n" + groups + "user:x:1000:\n");
  }

  private static void add(Path shared, Path scratch, String name, String version, String groups)
      throws IOException {
    Path busybox = Files.exists(BUSYBOX) ? BUSYBOX : Path.of("/usr/bin/busybox");
    if (!Files.exists(busybox)) {
      Assumptions.abort("NOT RUN: busybox is not installed");
    }
    Path root = Files.createDirectories(scratch.resolve("root-" + name));
    for (String folder : List.of("bin", "etc/old.d/deep", "usr/lib/pkg", "home/user", "root")) {
      Files.createDirectories(root.resolve(folder));
    }
    Files.copy(busybox, root.resolve("bin/busybox"));
    for (String program : PROGRAMS) {
      Files.createSymbolicLink(root.resolve("bin").resolve(program), Path.of("busybox"));
    }
    Path bash = Files.writeString(root.resolve("bin/bash"), "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    Files.setPosixFilePermissions(bash, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(root.resolve("etc/version"), version);
    Files.writeString(root.resolve("etc/removed"), "by the image\n");
    Files.writeString(root.resolve("etc/changed"), "by the image\n");
    Files.writeString(root.resolve("etc/old.d/deep/file"), "by the image\n");
    Files.writeString(root.resolve("usr/lib/pkg/lib"), "by the image\n");
    Files.writeString(
        root.resolve("etc/passwd"),
        "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n");
    Files.writeString(root.resolve("etc/group"), groups);
    Path tar = scratch.resolve(name + ".tar");
    run("tar", "--owner=0", "--group=0", "-C", root.toString(), "-cf", tar.toString(), ".");
    String layout = layout(scratch.resolve("oci-" + name), Files.readAllBytes(tar));
    new ImageStore(shared)
        .add(name, ImageSource.reference("oci:" + layout), ImageStore.AddOptions.DEFAULT);
  }

  private static String layout(Path folder, byte[] layer) throws IOException {
    Path blobs = Files.createDirectories(folder.resolve("blobs/sha256"));
    String machine = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
    String layerDigest = blob(blobs, layer);
    byte[] config =
        """
        {"architecture":"%s","os":"linux",
         "config":{"WorkingDir":"/home/user","User":"user","Env":["PATH=/bin"]},
         "rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}\
        """
            .formatted(machine, layerDigest)
            .getBytes(UTF_8);
    String configDigest = blob(blobs, config);
    byte[] manifest =
        """
        {"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",
         "config":{"mediaType":"application/vnd.oci.image.config.v1+json",
          "digest":"sha256:%s","size":%d},
         "layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar",
          "digest":"sha256:%s","size":%d}]}\
        """
            .formatted(configDigest, config.length, layerDigest, layer.length)
            .getBytes(UTF_8);
    String manifestDigest = blob(blobs, manifest);
    Files.writeString(folder.resolve("oci-layout"), "{\"imageLayoutVersion\":\"1.0.0\"}");
    Files.writeString(
        folder.resolve("index.json"),
        """
        {"schemaVersion":2,"manifests":[
         {"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%d,
          "platform":{"architecture":"%s","os":"linux"}}]}\
        """
            .formatted(manifestDigest, manifest.length, machine));
    return folder.toString();
  }

  private static String blob(Path blobs, byte[] content) throws IOException {
    try {
      String digest =
          HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
      Files.write(blobs.resolve(digest), content);
      return digest;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void run(String... words) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
    builder.environment().putAll(Map.of("LC_ALL", "C"));
    try {
      int code = builder.start().waitFor();
      if (code != 0) {
        throw new IOException(words[0] + " ended with " + code);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }
}
