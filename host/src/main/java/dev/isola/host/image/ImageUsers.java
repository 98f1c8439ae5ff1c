package dev.isola.host.image;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Looks up users of an image in its {@code /etc/passwd}, by the rules of the guest agent. The file
 * is not trusted: no link in its path is followed, and at most 4 MiB of it are read.
 */
final class ImageUsers {
  private static final String FILE = "etc/passwd";
  private static final int MAX_BYTES = 4 << 20;
  private static final int FIELDS = 7;
  private static final int BUFFER = 1 << 16;

  private ImageUsers() {}

  /** Returns whether the image has a user; false if its list of users cannot be read. */
  static boolean contains(Image image, String user) {
    try (RootfsTree tree = new RootfsTree(image.rootfs())) {
      return read(tree).lines().anyMatch(line -> isUser(line.split(":", -1), user));
    } catch (IOException unreadable) {
      return false;
    }
  }

  private static boolean isUser(String[] fields, String user) {
    return fields.length >= FIELDS
        && fields[0].equals(user)
        && fields[2].matches("[0-9]{1,9}")
        && fields[3].matches("[0-9]{1,9}");
  }

  private static String read(RootfsTree tree) throws IOException {
    int file = tree.open(FILE, NativeFiles.RDONLY | NativeFiles.NONBLOCK);
    try (Arena arena = Arena.ofConfined()) {
      if (!NativeFiles.stat(file).isFile()) {
        return "";
      }
      MemorySegment memory = arena.allocate(BUFFER);
      ByteArrayOutputStream content = new ByteArrayOutputStream();
      int n = NativeFiles.read(file, memory);
      while (n > 0 && content.size() < MAX_BYTES) {
        content.writeBytes(memory.asSlice(0, n).toArray(ValueLayout.JAVA_BYTE));
        n = NativeFiles.read(file, memory);
      }
      return content.toString(StandardCharsets.ISO_8859_1);
    } finally {
      NativeFiles.close(file);
    }
  }
}
