package dev.isola.provider.microvm;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The first root of a machine, an archive in the format {@code newc} of cpio: the agent as {@code
 * /init}, and the modules that it loads by name in {@code /modules}.
 */
public final class Initramfs {
  private static final int FOLDER = 0040755;
  private static final int PROGRAM = 0100755;
  private static final int FILE = 0100644;
  private static final int CONSOLE = 0020600;

  private final OutputStream out;
  private int inode = 1;

  private Initramfs(OutputStream out) {
    this.out = out;
  }

  /** Writes the archive to a file. */
  public static void write(Path target, Path agent, List<byte[]> modules) throws IOException {
    try (OutputStream file = Files.newOutputStream(target)) {
      Initramfs archive = new Initramfs(file);
      archive.add("init", PROGRAM, Files.readAllBytes(agent));
      archive.add("dev", FOLDER, new byte[0]);
      archive.device("dev/console", 5, 1);
      archive.add("modules", FOLDER, new byte[0]);
      for (int i = 0; i < modules.size(); i++) {
        archive.add("modules/%02d.ko".formatted(i), FILE, modules.get(i));
      }
      archive.add("TRAILER!!!", 0, new byte[0]);
    }
  }

  private void add(String name, int mode, byte[] content) throws IOException {
    header(name, mode, content.length, 0, 0);
    out.write(content);
    pad(content.length);
  }

  private void device(String name, int major, int minor) throws IOException {
    header(name, CONSOLE, 0, major, minor);
  }

  private void header(String name, int mode, int size, int major, int minor) throws IOException {
    String head =
        "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x"
            .formatted(inode++, mode, 0, 0, 1, 0, size, 0, 0, major, minor, name.length() + 1, 0);
    byte[] bytes = (head + name + "\0").getBytes(US_ASCII);
    out.write(bytes);
    pad(bytes.length);
  }

  private void pad(int length) throws IOException {
    out.write(new byte[(4 - length % 4) % 4]);
  }
}
