package dev.isola.client;

import dev.isola.client.error.Problem;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Spec of a sandbox. All fields are optional. The server validates the spec and reports all errors
 * together.
 *
 * <pre>{@code
 * SandboxSpec.builder().image("python:3.14").ttl(Duration.ofMinutes(10)).tag("team", "red").build()
 * }</pre>
 *
 * @param document JSON object of the API
 */
public record SandboxSpec(Map<String, Object> document) {
  public SandboxSpec {
    document = Map.copyOf(document);
  }

  /** Spec without fields: the server's defaults. */
  public static final SandboxSpec DEFAULT = new SandboxSpec(Map.of());

  /**
   * Reads the JSON object of the API.
   *
   * @throws dev.isola.client.error.InvalidRequest if it is not a JSON object
   */
  public static SandboxSpec read(InputStream json) {
    try {
      return new SandboxSpec(JsonFields.parse(json.readAllBytes()).all());
    } catch (IOException | MalformedJson e) {
      throw Problem.clientSide(
              "INVALID_SPEC",
              "the spec is not a JSON object",
              "use an object such as {\"image\": \"...\"}")
          .exception(e);
    }
  }

  public static Builder builder() {
    return new Builder(Map.of());
  }

  public Builder toBuilder() {
    return new Builder(document);
  }

  /** Builds a spec. */
  public static final class Builder {
    private final Map<String, Object> document;

    private Builder(Map<String, Object> from) {
      document = new LinkedHashMap<>(from);
    }

    /** Sets any field of the JSON object, including fields without a method here. */
    public Builder set(String field, Object value) {
      document.put(field, value);
      return this;
    }

    /** Sets a field of a nested object and keeps its other fields. */
    private Builder within(String object, String field, Object value) {
      Map<String, Object> all = new LinkedHashMap<>();
      if (document.get(object) instanceof Map<?, ?> before) {
        before.forEach((name, old) -> all.put(String.valueOf(name), old));
      }
      all.put(field, value);
      return set(object, all);
    }

    public Builder id(String id) {
      return set("id", id);
    }

    /**
     * Sets the name: 1 to 63 letters, digits, {@code .}, {@code _} and {@code -}. It is unique
     * until the sandbox is destroyed.
     */
    public Builder name(String name) {
      return set("name", name);
    }

    /** Sets the provider by name, or {@code auto}. */
    public Builder provider(String name) {
      return set("provider", name);
    }

    /** Fails instead of falling back to another provider than the one named. */
    public Builder strictNoFallback() {
      return set("strictNoFallback", true);
    }

    /** Restricts the choice to providers of a region, as labeled by the operator. */
    public Builder region(String label) {
      return set("region", label);
    }

    public Builder image(String image) {
      return set("image", image);
    }

    /** Sets a template by name, instead of an image. Fields of the spec override the template's. */
    public Builder template(String name) {
      return set("template", name);
    }

    public Builder env(String name, String value) {
      return within("env", name, value);
    }

    /** Sets an environment variable whose value the server never returns. */
    public Builder secretEnv(String name, String value) {
      return within("secretEnv", name, value);
    }

    public Builder cwd(String folder) {
      return set("cwd", folder);
    }

    public Builder user(String user) {
      return set("user", user);
    }

    /** Adds a file that exists when the sandbox starts. */
    public Builder seedFile(String path, String text) {
      return within("seedFiles", path, text);
    }

    public Builder tag(String name, String value) {
      return within("tags", name, value);
    }

    /**
     * Mounts a volume by name, or a folder of the server's host by its absolute path, which needs a
     * key with scope admin.
     */
    public Builder mount(String source, String destination, boolean readOnly) {
      List<Object> mounts = new ArrayList<>();
      if (document.get("volumes") instanceof List<?> before) {
        mounts.addAll(before);
      }
      mounts.add(
          Map.of(
              "type", source.startsWith("/") ? "bind" : "volume",
              "source", source,
              "destination", destination,
              "readonly", readOnly));
      return set("volumes", mounts);
    }

    /** Sets the time to live. */
    public Builder ttl(Duration time) {
      return set("ttlSeconds", time.toSeconds());
    }

    /** Sets how long the sandbox may be idle before the action of {@link #whenIdle} applies. */
    public Builder idleTimeout(Duration time) {
      return set("idleTimeoutSeconds", time.toSeconds());
    }

    /**
     * Sets the action for an idle sandbox: destroy, pause, stop or snapshot. Unless destroyed, the
     * next request resumes it.
     */
    public Builder whenIdle(String what) {
      return set("whenIdle", what);
    }

    /**
     * Sets the action for an expired sandbox: destroy, pause, stop or snapshot. Unless destroyed,
     * it can be resumed explicitly or, with {@link #autoResume}, by the next request.
     */
    public Builder whenExpired(String what) {
      return set("whenExpired", what);
    }

    /**
     * Sets whether traffic to the ports resumes the sandbox, and whether any request does after it
     * expired.
     */
    public Builder autoResume(boolean on) {
      return set("autoResume", on);
    }

    public Builder cpu(double cores) {
      return within("resources", "cpu", cores);
    }

    public Builder memoryMb(long megabytes) {
      return within("resources", "memory", megabytes);
    }

    public Builder diskMb(long megabytes) {
      return within("resources", "disk", megabytes);
    }

    /** Sets the maximum number of processes, regardless of their threads. */
    public Builder processes(int count) {
      return within("resources", "processes", count);
    }

    /** Sets the maximum number of threads of all processes together. */
    public Builder threads(int count) {
      return within("resources", "threads", count);
    }

    /** Sets the network mode: none, filtered, bridge or host. */
    public Builder network(String mode) {
      return within("network", "mode", mode);
    }

    public Builder allowDomains(Collection<String> domains) {
      return within("network", "allowDomains", new ArrayList<>(domains));
    }

    /**
     * Sets which other hosts the sandbox reaches, by rules; implies network mode filtered.
     *
     * @param settings {@code network.egress} of the spec
     */
    public Builder egress(Map<String, ?> settings) {
      return within("network", "egress", new LinkedHashMap<>(settings));
    }

    public Builder exposePorts(Integer... ports) {
      return within("network", "exposePorts", List.of(ports));
    }

    /** Sets the minimum isolation: process, container, kernel or vm. */
    public Builder requireIsolation(String isolation) {
      return within("require", "isolation", isolation);
    }

    /** Mounts a volume of the server at a path in the sandbox. Repeatable. */
    public Builder volume(String name, String path) {
      List<Object> all = new ArrayList<>();
      if (document.get("volumes") instanceof List<?> before) {
        all.addAll(before);
      }
      all.add(Map.of("type", "volume", "source", name, "destination", path));
      return set("volumes", all);
    }

    public SandboxSpec build() {
      return new SandboxSpec(document);
    }
  }
}
