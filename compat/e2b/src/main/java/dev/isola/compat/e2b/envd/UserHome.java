package dev.isola.compat.e2b.envd;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The home of a user in a sandbox.
 *
 * @param user the user name inside the sandbox
 * @param home the home directory, without a trailing slash
 * @param folder the directory against which relative paths are resolved
 */
record UserHome(String user, String home, String folder) {

  /** Resolves a path to a normalized absolute path. */
  String absolute(String path) {
    if (path.indexOf('\0') >= 0) {
      throw ConnectMessage.invalid("a path contains a NUL character");
    }
    String joined;
    if (path.equals("~") || path.startsWith("~/")) {
      joined = home + path.substring(1);
    } else {
      joined = path.startsWith("/") ? path : folder + "/" + path;
    }
    return normalize(joined);
  }

  /** Removes empty segments, {@code .} and {@code ..}. */
  private static String normalize(String path) {
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
