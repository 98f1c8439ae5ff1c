package dev.isola.server.route;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** The routes of a server, and the lookup of a request's route. */
public final class Routes {
  private record Row(Route route, List<String> parts) {}

  /**
   * A route that matches a request.
   *
   * @param path the path parameters, except the one that names a sandbox
   * @param sandbox the sandbox that the path names, if it names one
   * @param refusal the error if the path should name a sandbox, but what it names cannot be one
   */
  public record Match(
      Route route,
      Map<String, String> path,
      Optional<SandboxId> sandbox,
      Optional<SandboxException> refusal) {

    /** Resolves the sandbox. From here on the request has no other spelling of it. */
    private static Match of(Route route, Map<String, String> parameters) {
      Optional<String> identifier = Optional.ofNullable(parameters.remove(Route.SANDBOX));
      try {
        return new Match(
            route, parameters, identifier.map(route.dialect()::sandbox), Optional.empty());
      } catch (SandboxException e) {
        return new Match(route, parameters, Optional.empty(), Optional.of(e));
      }
    }

    /**
     * Refuses a request whose path names something that cannot be a sandbox. Called before the
     * handler and its guards.
     */
    public void requireSandbox() {
      if (refusal.isPresent()) {
        throw refusal.get();
      }
    }
  }

  private final List<Row> rows = new ArrayList<>();
  private final List<ApiExtension> extensions;

  public Routes(List<Route> routes) {
    this(routes, List.of());
  }

  /**
   * @param routes all routes, including those of extensions
   */
  public Routes(List<Route> routes, List<ApiExtension> extensions) {
    this.extensions = List.copyOf(extensions);
    for (Route route : routes) {
      boolean twice =
          rows.stream()
              .map(Row::route)
              .anyMatch(
                  one ->
                      one.method().equals(route.method())
                          && one.template().equals(route.template()));
      if (twice) {
        throw new IllegalArgumentException(
            "duplicate route " + route.method() + " " + route.template());
      }
      rows.add(new Row(route, parts(route.template())));
    }
  }

  /** Returns all routes in order. */
  public List<Route> all() {
    return rows.stream().map(Row::route).toList();
  }

  public List<ApiExtension> extensions() {
    return extensions;
  }

  /** Returns the routes of the native API. */
  public List<Route> nativeRoutes() {
    return all().stream().filter(route -> route.dialect().isNative()).toList();
  }

  /**
   * Finds the route of a request. HEAD finds the route of GET, if its response is small.
   *
   * @param path the path as it was sent, percent-encoded
   */
  public Optional<Match> find(String method, String path) {
    List<String> parts = parts(path);
    for (Row row : rows) {
      boolean matches =
          row.route().method().equals(method)
              || (method.equals("HEAD") && row.route().answersHead());
      if (matches && !isForwarded(row)) {
        Optional<Map<String, String>> found = match(row.parts(), parts);
        if (found.isPresent()) {
          return Optional.of(Match.of(row.route(), found.get()));
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Finds the route that forwards a request with this path prefix. A GET route also accepts HEAD.
   */
  public Optional<Match> findForwarded(String requestMethod, String path) {
    String method = requestMethod.equals("HEAD") ? "GET" : requestMethod;
    List<String> parts = parts(path);
    for (Row row : rows) {
      int known = row.parts().size() - 1;
      if (isForwarded(row) && row.route().method().equals(method) && parts.size() > known) {
        Optional<Map<String, String>> found =
            match(row.parts().subList(0, known), parts.subList(0, known));
        if (found.isPresent()) {
          return Optional.of(Match.of(row.route(), found.get()));
        }
      }
    }
    return Optional.empty();
  }

  private static boolean isForwarded(Row row) {
    return row.route().body() instanceof Route.Body.Forwarded;
  }

  /** Returns the routes of a path with any method. */
  public List<Route> at(String path) {
    List<String> parts = parts(path);
    return rows.stream()
        .filter(
            row -> isForwarded(row) ? isPrefix(row, parts) : match(row.parts(), parts).isPresent())
        .map(Row::route)
        .toList();
  }

  private static boolean isPrefix(Row row, List<String> parts) {
    int known = row.parts().size() - 1;
    return parts.size() > known
        && match(row.parts().subList(0, known), parts.subList(0, known)).isPresent();
  }

  /**
   * Returns the methods that a path of the native API supports, including HEAD and OPTIONS; empty
   * if the native API does not have this path.
   */
  public List<String> allowedMethods(String path) {
    TreeSet<String> methods = new TreeSet<>();
    for (Route route : at(path)) {
      if (route.dialect().isNative()) {
        methods.add(route.method());
        methods.add("OPTIONS");
        if (route.answersHead() || isForwardedGet(route)) {
          methods.add("HEAD");
        }
      }
    }
    return List.copyOf(methods);
  }

  private static boolean isForwardedGet(Route route) {
    return route.body() instanceof Route.Body.Forwarded && route.method().equals("GET");
  }

  private static List<String> parts(String path) {
    return List.of(path.substring(path.startsWith("/") ? 1 : 0).split("/", -1));
  }

  /** Matches a path against a template. Literal segments are compared without decoding. */
  private static Optional<Map<String, String>> match(List<String> template, List<String> path) {
    if (template.size() != path.size()) {
      return Optional.empty();
    }
    Map<String, String> found = new LinkedHashMap<>();
    for (int i = 0; i < path.size(); i++) {
      String segment = template.get(i);
      if (segment.startsWith("{")) {
        Optional<String> value = percentDecode(path.get(i), false);
        if (value.isEmpty() || value.get().isEmpty()) {
          return Optional.empty();
        }
        found.put(segment.substring(1, segment.length() - 1), value.get());
      } else if (!segment.equals(path.get(i))) {
        return Optional.empty();
      }
    }
    return Optional.of(found);
  }

  /** Decodes percent-encoding; empty if the result is not UTF-8. */
  public static Optional<String> percentDecode(String text, boolean plusIsSpace) {
    byte[] sent = text.getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.allocate(sent.length);
    for (int i = 0; i < sent.length; i++) {
      if (sent[i] == '%') {
        int high = i + 2 <= sent.length - 1 ? Character.digit(sent[i + 1], 16) : -1;
        int low = i + 2 <= sent.length - 1 ? Character.digit(sent[i + 2], 16) : -1;
        if (high < 0 || low < 0) {
          return Optional.empty();
        }
        bytes.put((byte) (high * 16 + low));
        i += 2;
      } else {
        bytes.put(plusIsSpace && sent[i] == '+' ? (byte) ' ' : sent[i]);
      }
    }
    try {
      return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }
}
