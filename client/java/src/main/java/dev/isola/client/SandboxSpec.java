package dev.isola.client;

import dev.isola.client.error.Problem;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.io.InputStream;
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

  /** Builds a spec. A field without a method of its own here is set by {@link CreateFields}. */
  public static final class Builder extends CreateFields {
    private final Map<String, Object> document;

    private Builder(Map<String, Object> from) {
      document = new LinkedHashMap<>(from);
    }

    /**
     * Sets any field of the JSON object, including fields without a method here.
     *
     * @param field a field of a nested object is named with a dot, such as {@code resources.cpu}
     */
    public Builder set(String field, Object value) {
      return put(value, field.split("\\.", -1));
    }

    @Override
    Builder put(Object value, String... path) {
      put(document, List.of(path), value);
      return this;
    }

    private static void put(Map<String, Object> object, List<String> path, Object value) {
      if (path.size() == 1) {
        object.put(path.getFirst(), value);
        return;
      }
      Map<String, Object> inner = new LinkedHashMap<>();
      if (object.get(path.getFirst()) instanceof Map<?, ?> before) {
        before.forEach((name, old) -> inner.put(String.valueOf(name), old));
      }
      put(inner, path.subList(1, path.size()), value);
      object.put(path.getFirst(), inner);
    }

    /** Fails instead of falling back to another provider than the one named. */
    public Builder strictNoFallback() {
      return set("strictNoFallback", true);
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

    public Builder cpu(double cores) {
      return put(cores, "resources", "cpu");
    }

    public Builder memoryMb(long megabytes) {
      return put(megabytes, "resources", "memory");
    }

    public Builder diskMb(long megabytes) {
      return put(megabytes, "resources", "disk");
    }

    /** Sets the maximum number of processes, regardless of their threads. */
    public Builder processes(int count) {
      return put(count, "resources", "processes");
    }

    /** Sets the maximum number of threads of all processes together. */
    public Builder threads(int count) {
      return put(count, "resources", "threads");
    }

    /** Sets the network mode: none, filtered, bridge or host. */
    public Builder network(String mode) {
      return put(mode, "network", "mode");
    }

    public Builder allowDomains(Collection<String> domains) {
      return put(new ArrayList<>(domains), "network", "allowDomains");
    }

    /**
     * Sets which other hosts the sandbox reaches, by rules; implies network mode filtered.
     *
     * @param settings {@code network.egress} of the spec
     */
    public Builder egress(Map<String, ?> settings) {
      return put(new LinkedHashMap<>(settings), "network", "egress");
    }

    public Builder exposePorts(Integer... ports) {
      return put(List.of(ports), "network", "exposePorts");
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
