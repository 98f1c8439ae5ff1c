package dev.isola.compat.e2b.template;

import dev.isola.server.route.JsonText;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What sandboxes of one kind are made from and begin with.
 *
 * @param id as E2B's clients name it
 * @param names by which it is known besides
 * @param image as a spec names it; empty while it was never built, and for the machine's own root
 * @param env of every command
 * @param user who runs commands that name nobody; empty for the provider's choice
 * @param folder where they run; empty for the workspace
 * @param start a command that runs in the background of every sandbox
 * @param ready a command that succeeds when {@code start} has come far enough
 * @param build the last one that worked, or the one that goes on
 */
public record Template(
    String id,
    List<String> names,
    Optional<String> image,
    Map<String, String> env,
    String user,
    String folder,
    Optional<String> start,
    Optional<String> ready,
    Optional<Long> cpus,
    Optional<Long> memoryMb,
    String build,
    Instant createdAt) {
  /** Who commands run as, and where, when nobody says otherwise. */
  public static final String USER = "user";

  public static final String HOME = "/home/user";

  public Template {
    names = List.copyOf(names);
    env = Map.copyOf(env);
  }

  /** The machine's own programs, for providers that take no images; its users are the machine's. */
  public static final Template HOST = of("host", Optional.empty(), "", "");

  /** One that is an image and nothing more. */
  public static Template of(String id, String image) {
    return of(id, Optional.of(image), USER, HOME);
  }

  private static Template of(String id, Optional<String> image, String user, String folder) {
    return new Template(
        id,
        List.of(id),
        image,
        Map.of(),
        user,
        folder,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        "",
        Instant.EPOCH);
  }

  /** Returns what this begins with, on other files. */
  public Template with(Template files) {
    return new Template(
        files.id(),
        files.names(),
        files.image(),
        env,
        user,
        folder,
        start,
        ready,
        cpus,
        memoryMb,
        build,
        createdAt);
  }

  /** Returns this known by other names. */
  Template named(List<String> others) {
    return new Template(
        id, others, image, env, user, folder, start, ready, cpus, memoryMb, build, createdAt);
  }

  /** Returns this with a command in the background. */
  public Template starting(String command) {
    return new Template(
        id,
        names,
        image,
        env,
        user,
        folder,
        Optional.of(command),
        ready,
        cpus,
        memoryMb,
        build,
        createdAt);
  }

  String text() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", id);
    json.put("names", names);
    image.ifPresent(value -> json.put("image", value));
    json.put("env", env);
    json.put("user", user);
    json.put("folder", folder);
    start.ifPresent(value -> json.put("start", value));
    ready.ifPresent(value -> json.put("ready", value));
    cpus.ifPresent(value -> json.put("cpus", value));
    memoryMb.ifPresent(value -> json.put("memoryMb", value));
    json.put("build", build);
    json.put("createdAt", createdAt.toString());
    return new String(JsonText.of(json), StandardCharsets.UTF_8);
  }

  static Template read(String text) {
    Map<String, Object> json = JsonText.object(text);
    Map<String, String> env = new LinkedHashMap<>();
    ((Map<?, ?>) field(json, "env"))
        .forEach((name, value) -> env.put(String.valueOf(name), String.valueOf(value)));
    return new Template(
        field(json, "id").toString(),
        ((List<?>) field(json, "names")).stream().map(String::valueOf).toList(),
        Optional.ofNullable(json.get("image")).map(String::valueOf),
        env,
        field(json, "user").toString(),
        field(json, "folder").toString(),
        Optional.ofNullable(json.get("start")).map(String::valueOf),
        Optional.ofNullable(json.get("ready")).map(String::valueOf),
        Optional.ofNullable((Number) json.get("cpus")).map(Number::longValue),
        Optional.ofNullable((Number) json.get("memoryMb")).map(Number::longValue),
        field(json, "build").toString(),
        Instant.parse(field(json, "createdAt").toString()));
  }

  private static Object field(Map<String, Object> json, String name) {
    Object value = json.get(name);
    if (value == null) {
      throw new IllegalStateException("a template is stored without " + name);
    }
    return value;
  }
}
