package dev.isola.archive;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Validates and manipulates paths of archive entries. A path is relative to the root of the tree
 * and has no {@code .} or {@code ..} component. Each char holds one byte, because names in an
 * archive need not be text in any encoding.
 */
public final class ArchivePaths {
  public static final int MAX_PATH_LENGTH = 4095;
  private static final int MAX_NAME_LENGTH = 255;

  private ArchivePaths() {}

  /**
   * Normalizes an entry name; the result is empty for the root itself. A leading slash is dropped,
   * because all paths are relative to the root of the tree.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} for a name that leads out
   *     of the tree
   */
  public static String normalize(String name) {
    if (name.indexOf('\0') >= 0) {
      throw badArchive("a name contains a NUL byte", name);
    }
    StringBuilder path = new StringBuilder(name.length());
    for (String part : name.split("/")) {
      if (part.isEmpty() || part.equals(".")) {
        continue;
      }
      if (part.equals("..")) {
        throw badArchive("a name contains '..'", name);
      }
      if (part.length() > MAX_NAME_LENGTH) {
        throw badArchive("a name is longer than " + MAX_NAME_LENGTH + " bytes", name);
      }
      if (!path.isEmpty()) {
        path.append('/');
      }
      path.append(part);
    }
    if (path.length() > MAX_PATH_LENGTH) {
      throw badArchive("a path is longer than " + MAX_PATH_LENGTH + " bytes", name);
    }
    return path.toString();
  }

  public static String parent(String path) {
    int slash = path.lastIndexOf('/');
    return slash < 0 ? "" : path.substring(0, slash);
  }

  public static String fileName(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  public static String resolve(String folder, String name) {
    return folder.isEmpty() ? name : folder + "/" + name;
  }

  /** Returns a path for display: one line of bounded length, decoded as UTF-8 if valid. */
  public static String display(String path) {
    String text = path;
    try {
      text =
          StandardCharsets.UTF_8
              .newDecoder()
              .decode(ByteBuffer.wrap(path.getBytes(StandardCharsets.ISO_8859_1)))
              .toString();
    } catch (CharacterCodingException notUtf8) {
      // Not UTF-8: display each byte as a character.
    }
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < text.length() && i < 200; i++) {
      char c = text.charAt(i);
      line.append(Character.isISOControl(c) ? '?' : c);
    }
    return text.length() > 200 ? line + "…" : line.toString();
  }

  public static SandboxException badArchive(String what, String path) {
    return Fault.of(
            ErrorCode.BAD_ARCHIVE,
            what + ": " + display(path),
            "nothing of it was kept; create the archive again, or use one from a trusted source")
        .with("path", display(path))
        .exception();
  }
}
