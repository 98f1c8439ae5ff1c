package dev.isola.compat.e2b.envd;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Where somebody is at home in a sandbox.
 *
 * @param user as the sandbox names him
 * @param home his home, without a slash at the end
 * @param folder where what he names without a slash begins
 */
record UserHome(String user, String home, String folder) {

  /** Returns a path as everybody would write it. */
  String absolute(String path) {
    if (path.indexOf('\0') >= 0) {
      throw ConnectMessage.invalid("a path contains a NUL");
    }
    String whole;
    if (path.equals("~") || path.startsWith("~/")) {
      whole = home + path.substring(1);
    } else {
      whole = path.startsWith("/") ? path : folder + "/" + path;
    }
    return clean(whole);
  }

  /** Takes out what means nothing: double slashes, dots, names that are left again. */
  private static String clean(String path) {
    Deque<String> parts = new ArrayDeque<>();
    for (String part : path.split("/", -1)) {
      switch (part) {
        case "", "." -> {}
        case ".." -> parts.pollLast();
        default -> parts.addLast(part);
      }
    }
    return "/" + String.join("/", parts);
  }
}
