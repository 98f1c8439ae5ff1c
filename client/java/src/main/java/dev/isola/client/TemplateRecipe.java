package dev.isola.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a template is built. The server checks it, and names everything that is wrong at once.
 *
 * <pre>{@code
 * TemplateRecipe.builder().base("debian:12").packages("python3")
 *     .copy("src", "/app").run("python3 -m compileall /app")
 *     .start("python3 /app/server.py").ready("test -S /tmp/server.sock").build()
 * }</pre>
 *
 * @param document as the API takes it; a copy need not name an archive yet
 */
public record TemplateRecipe(Map<String, Object> document) {
  public TemplateRecipe {
    document = Map.copyOf(document);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Puts a recipe together; steps run in the order of the calls. */
  public static final class Builder {
    private final Map<String, Object> document = new LinkedHashMap<>();
    private final List<Object> steps = new ArrayList<>();

    private Builder() {}

    /** The image that the build begins with. */
    public Builder base(String image) {
      return set("base", image);
    }

    /** The template that the build begins with, instead of an image. */
    public Builder template(String name) {
      return set("template", name);
    }

    /** Installs packages of the base's distribution, as root. */
    public Builder packages(String... names) {
      return step(Map.of("packages", List.of(names)));
    }

    /** Runs a shell command as the user of the steps before. */
    public Builder run(String command) {
      return step(Map.of("run", command));
    }

    public Builder run(String command, String user) {
      return step(Map.of("run", command, "user", user));
    }

    /** Copies a file or a folder with all in it. */
    public Builder copy(String from, String to) {
      return step(Map.of("copy", Map.of("from", from, "to", to)));
    }

    public Builder env(String name, String value) {
      return step(Map.of("env", Map.of(name, value)));
    }

    /** Makes a folder, if it is missing, and runs what follows in it. */
    public Builder workdir(String path) {
      return step(Map.of("workdir", path));
    }

    /** Runs what follows as this user. */
    public Builder user(String name) {
      return step(Map.of("user", name));
    }

    /** A command that runs in the background of every sandbox. */
    public Builder start(String command) {
      return set("start", command);
    }

    /** A command that succeeds once the start command can be used. */
    public Builder ready(String command) {
      return set("ready", command);
    }

    public Builder cpu(int cores) {
      return set("cpu", cores);
    }

    public Builder memoryMb(long megabytes) {
      return set("memoryMb", megabytes);
    }

    /** Adds a step of the API's document, also one that this SDK has no method for. */
    public Builder step(Map<String, Object> step) {
      steps.add(step);
      return this;
    }

    /** Sets any field of the API's document. */
    public Builder set(String field, Object value) {
      document.put(field, value);
      return this;
    }

    public TemplateRecipe build() {
      Map<String, Object> all = new LinkedHashMap<>(document);
      all.put("steps", List.copyOf(steps));
      return new TemplateRecipe(all);
    }
  }
}
