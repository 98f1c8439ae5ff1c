package dev.isola.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Recipe of a template. The server validates it and reports all errors together.
 *
 * <pre>{@code
 * TemplateRecipe.builder().base("debian:12").packages("python3")
 *     .copy("src", "/app").run("python3 -m compileall /app")
 *     .start("python3 /app/server.py").ready("test -S /tmp/server.sock").build()
 * }</pre>
 *
 * @param document JSON object of the API; the archives of copy steps may be missing
 */
public record TemplateRecipe(Map<String, Object> document) {
  public TemplateRecipe {
    document = Map.copyOf(document);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Builds a recipe. Steps run in the order of the calls. */
  public static final class Builder {
    private final Map<String, Object> document = new LinkedHashMap<>();
    private final List<Object> steps = new ArrayList<>();

    private Builder() {}

    /** Sets the base image. */
    public Builder base(String image) {
      return set("base", image);
    }

    /** Sets a template as the base, instead of an image. */
    public Builder template(String name) {
      return set("template", name);
    }

    /** Adds a step that installs packages of the base's distribution, as root. */
    public Builder packages(String... names) {
      return step(Map.of("packages", List.of(names)));
    }

    /** Adds a step that runs a shell command, as the current user of the recipe. */
    public Builder run(String command) {
      return step(Map.of("run", command));
    }

    public Builder run(String command, String user) {
      return step(Map.of("run", command, "user", user));
    }

    /** Adds a step that copies a file or, recursively, a folder. */
    public Builder copy(String from, String to) {
      return step(Map.of("copy", Map.of("from", from, "to", to)));
    }

    public Builder env(String name, String value) {
      return step(Map.of("env", Map.of(name, value)));
    }

    /**
     * Adds a step that creates a folder if it does not exist, and sets it as the working folder of
     * later steps.
     */
    public Builder workdir(String path) {
      return step(Map.of("workdir", path));
    }

    /** Adds a step that sets the user of later steps. */
    public Builder user(String name) {
      return step(Map.of("user", name));
    }

    /** Sets a command that runs in the background of every sandbox. */
    public Builder start(String command) {
      return set("start", command);
    }

    /** Sets a command that succeeds once the start command is ready. */
    public Builder ready(String command) {
      return set("ready", command);
    }

    public Builder cpu(int cores) {
      return set("cpu", cores);
    }

    public Builder memoryMb(long megabytes) {
      return set("memoryMb", megabytes);
    }

    /** Adds a step as a JSON object of the API, including kinds without a method here. */
    public Builder step(Map<String, Object> step) {
      steps.add(step);
      return this;
    }

    /** Sets any field of the JSON object. */
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
