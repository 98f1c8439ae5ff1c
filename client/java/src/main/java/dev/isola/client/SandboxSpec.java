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
 * What a sandbox is to be; everything has a default. The server checks it, and names everything
 * that is wrong at once.
 *
 * <pre>{@code
 * SandboxSpec.builder().image("python:3.14").ttl(Duration.ofMinutes(10)).tag("team", "red").build()
 * }</pre>
 *
 * @param document as the API takes it
 */
public record SandboxSpec(Map<String, Object> document) {
  public SandboxSpec {
    document = Map.copyOf(document);
  }

  /** All defaults of the server. */
  public static final SandboxSpec DEFAULT = new SandboxSpec(Map.of());

  /**
   * Reads a document of the API, as JSON.
   *
   * @throws dev.isola.client.error.InvalidRequest when it is no JSON object
   */
  public static SandboxSpec read(InputStream json) {
    try {
      return new SandboxSpec(JsonFields.parse(json.readAllBytes()).all());
    } catch (IOException | MalformedJson e) {
      throw Problem.clientSide(
              "INVALID_SPEC", "the spec is not a JSON object", "write it like {\"image\": \"...\"}")
          .exception(e);
    }
  }

  public static Builder builder() {
    return new Builder(Map.of());
  }

  public Builder toBuilder() {
    return new Builder(document);
  }

  /** Puts a spec together. */
  public static final class Builder {
    private final Map<String, Object> document;

    private Builder(Map<String, Object> from) {
      document = new LinkedHashMap<>(from);
    }

    /** Sets any field of the API's document, also one that this SDK has no method for. */
    public Builder set(String field, Object value) {
      document.put(field, value);
      return this;
    }

    /** Sets a field of an object in the document, and leaves its others. */
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

    /** A provider by name, or auto. */
    public Builder provider(String name) {
      return set("provider", name);
    }

    /** Take the provider that is named and no other. */
    public Builder strictNoFallback() {
      return set("strictNoFallback", true);
    }

    /** Providers of this region only, as the operator labels them. */
    public Builder region(String label) {
      return set("region", label);
    }

    public Builder image(String image) {
      return set("image", image);
    }

    /** A template by name, instead of an image; what the spec says itself wins. */
    public Builder template(String name) {
      return set("template", name);
    }

    public Builder env(String name, String value) {
      return within("env", name, value);
    }

    /** A variable of every command whose value no answer of the server has. */
    public Builder secretEnv(String name, String value) {
      return within("secretEnv", name, value);
    }

    public Builder cwd(String folder) {
      return set("cwd", folder);
    }

    public Builder user(String user) {
      return set("user", user);
    }

    /** A file that is there from the start. */
    public Builder seedFile(String path, String text) {
      return within("seedFiles", path, text);
    }

    public Builder tag(String name, String value) {
      return within("tags", name, value);
    }

    /** How long it lives. */
    public Builder ttl(Duration time) {
      return set("ttlSeconds", time.toSeconds());
    }

    /** Ends it when it was not used that long. */
    public Builder idleTimeout(Duration time) {
      return set("idleTimeoutSeconds", time.toSeconds());
    }

    /** What becomes of it then: destroy, pause, stop or snapshot; the next request wakes it. */
    public Builder whenIdle(String what) {
      return set("whenIdle", what);
    }

    /**
     * What becomes of it when its time is up: destroy, pause, stop or snapshot. It is there again
     * when it is resumed, or with {@link #autoResume} by the next request.
     */
    public Builder whenExpired(String what) {
      return set("whenExpired", what);
    }

    /** Whether traffic to its ports wakes it, and any request one that was kept beyond its time. */
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

    /** How many processes commands may start, however many threads each has. */
    public Builder processes(int count) {
      return within("resources", "processes", count);
    }

    /** How many threads all processes may have together. */
    public Builder threads(int count) {
      return within("resources", "threads", count);
    }

    /** none, bridge or host. */
    public Builder network(String mode) {
      return within("network", "mode", mode);
    }

    public Builder allowDomains(Collection<String> domains) {
      return within("network", "allowDomains", new ArrayList<>(domains));
    }

    public Builder exposePorts(Integer... ports) {
      return within("network", "exposePorts", List.of(ports));
    }

    /** The least isolation: process, container, kernel or vm. */
    public Builder requireIsolation(String isolation) {
      return within("require", "isolation", isolation);
    }

    public SandboxSpec build() {
      return new SandboxSpec(document);
    }
  }
}
