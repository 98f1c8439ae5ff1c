package dev.isola.provider.e2b.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;

/** Validates the paths of callers and makes them absolute. */
record PathResolver(SandboxContext context) {
  private static final int LONGEST = 4_096;

  String absolute(String path) {
    if (path.isEmpty()) {
      throw refused("the path is empty");
    }
    if (path.indexOf('\0') >= 0 || !UTF_8.newEncoder().canEncode(path)) {
      throw refused("the path contains an invalid character");
    }
    String absolute = context.absolute(path);
    if (absolute.getBytes(UTF_8).length > LONGEST) {
      throw refused("the path is longer than " + LONGEST + " bytes");
    }
    return absolute;
  }

  /** Returns the parent folder of a path. */
  static String parent(String absolute) {
    String plain = absolute.replaceFirst("/+$", "");
    int slash = plain.lastIndexOf('/');
    return slash <= 0 ? "/" : plain.substring(0, slash);
  }

  static String leaf(String absolute) {
    String plain = absolute.replaceFirst("/+$", "");
    return plain.substring(plain.lastIndexOf('/') + 1);
  }

  /** Returns a folder path with a trailing slash. */
  static String folder(String absolute) {
    return absolute.endsWith("/") ? absolute : absolute + "/";
  }

  SandboxException refused(String what) {
    return context.fault(ErrorCode.INVALID_REQUEST, what, "use another path").exception();
  }
}
