package dev.isola.provider.microvm.firecracker;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The part of Firecracker's published API (its swagger file, version 1.16) that {@link
 * FirecrackerStub} serves: which requests there are, when, and with which fields.
 */
final class StubRequestCheck {
  /** When Firecracker accepts a request. */
  enum Phase {
    ALWAYS,
    /** Before the machine runs. */
    BEFORE_BOOT,
    /** Before anything is configured. */
    FRESH,
    AFTER_BOOT,
    PAUSED
  }

  /** The state of the process. */
  enum State {
    FRESH,
    CONFIGURED,
    RUNNING,
    PAUSED
  }

  private enum Type {
    TEXT(String.class),
    NUMBER(Number.class),
    FLAG(Boolean.class),
    OBJECT(Map.class),
    LIST(List.class);

    private final Class<?> type;

    Type(Class<?> type) {
      this.type = type;
    }
  }

  private record Fields(Map<String, Type> required, Map<String, Type> optional) {
    static final Fields NONE = new Fields(Map.of(), Map.of());

    Optional<String> violation(Map<?, ?> body) {
      Set<String> known = new TreeSet<>(required.keySet());
      known.addAll(optional.keySet());
      for (Map.Entry<?, ?> field : body.entrySet()) {
        String name = String.valueOf(field.getKey());
        Type type = required.getOrDefault(name, optional.get(name));
        if (type == null) {
          return Optional.of("unknown field `" + name + "`, expected one of " + known);
        }
        if (!type.type.isInstance(field.getValue())) {
          return Optional.of("invalid type of `" + name + "`, expected " + type);
        }
      }
      return required.keySet().stream()
          .filter(name -> !body.containsKey(name))
          .map(name -> "missing field `" + name + "`")
          .findFirst();
    }
  }

  private record Endpoint(String method, Pattern path, Phase phase, Fields fields) {}

  private static final List<Endpoint> ENDPOINTS =
      List.of(
          endpoint("GET", "/", Phase.ALWAYS, Fields.NONE),
          endpoint("GET", "/version", Phase.ALWAYS, Fields.NONE),
          endpoint(
              "PUT",
              "/machine-config",
              Phase.BEFORE_BOOT,
              new Fields(
                  Map.of("vcpu_count", Type.NUMBER, "mem_size_mib", Type.NUMBER),
                  Map.of(
                      "smt", Type.FLAG,
                      "track_dirty_pages", Type.FLAG,
                      "cpu_template", Type.TEXT,
                      "huge_pages", Type.TEXT))),
          endpoint(
              "PUT",
              "/boot-source",
              Phase.BEFORE_BOOT,
              new Fields(
                  Map.of("kernel_image_path", Type.TEXT),
                  Map.of("initrd_path", Type.TEXT, "boot_args", Type.TEXT))),
          endpoint(
              "PUT",
              "/drives/[A-Za-z0-9_]+",
              Phase.BEFORE_BOOT,
              new Fields(
                  Map.of(
                      "drive_id", Type.TEXT,
                      "is_root_device", Type.FLAG,
                      "is_read_only", Type.FLAG,
                      "path_on_host", Type.TEXT),
                  Map.of(
                      "partuuid", Type.TEXT,
                      "cache_type", Type.TEXT,
                      "rate_limiter", Type.OBJECT,
                      "io_engine", Type.TEXT))),
          endpoint(
              "PATCH",
              "/drives/[A-Za-z0-9_]+",
              Phase.AFTER_BOOT,
              new Fields(
                  Map.of("drive_id", Type.TEXT),
                  Map.of("path_on_host", Type.TEXT, "rate_limiter", Type.OBJECT))),
          endpoint(
              "PUT",
              "/vsock",
              Phase.BEFORE_BOOT,
              new Fields(
                  Map.of("guest_cid", Type.NUMBER, "uds_path", Type.TEXT),
                  Map.of("vsock_id", Type.TEXT))),
          endpoint(
              "PUT",
              "/network-interfaces/[A-Za-z0-9_]+",
              Phase.BEFORE_BOOT,
              new Fields(
                  Map.of("iface_id", Type.TEXT, "host_dev_name", Type.TEXT),
                  Map.of(
                      "guest_mac", Type.TEXT,
                      "mtu", Type.NUMBER,
                      "rx_rate_limiter", Type.OBJECT,
                      "tx_rate_limiter", Type.OBJECT))),
          endpoint(
              "PUT",
              "/entropy",
              Phase.BEFORE_BOOT,
              new Fields(Map.of(), Map.of("rate_limiter", Type.OBJECT))),
          endpoint(
              "PUT",
              "/actions",
              Phase.BEFORE_BOOT,
              new Fields(Map.of("action_type", Type.TEXT), Map.of())),
          endpoint(
              "PATCH", "/vm", Phase.AFTER_BOOT, new Fields(Map.of("state", Type.TEXT), Map.of())),
          endpoint(
              "PUT",
              "/snapshot/create",
              Phase.PAUSED,
              new Fields(
                  Map.of("mem_file_path", Type.TEXT, "snapshot_path", Type.TEXT),
                  Map.of("snapshot_type", Type.TEXT))),
          endpoint(
              "PUT",
              "/snapshot/load",
              Phase.FRESH,
              new Fields(
                  Map.of("snapshot_path", Type.TEXT, "mem_backend", Type.OBJECT),
                  Map.of(
                      "track_dirty_pages", Type.FLAG,
                      "resume_vm", Type.FLAG,
                      "network_overrides", Type.LIST,
                      "vsock_override", Type.OBJECT,
                      "clock_realtime", Type.FLAG))));

  private static final Fields MEMORY =
      new Fields(Map.of("backend_type", Type.TEXT, "backend_path", Type.TEXT), Map.of());
  private static final Fields VSOCK_OVERRIDE = new Fields(Map.of("uds_path", Type.TEXT), Map.of());
  private static final Fields NETWORK_OVERRIDE =
      new Fields(Map.of("iface_id", Type.TEXT, "host_dev_name", Type.TEXT), Map.of());

  private StubRequestCheck() {}

  private static Endpoint endpoint(String method, String path, Phase phase, Fields fields) {
    return new Endpoint(method, Pattern.compile(path), phase, fields);
  }

  /** Returns why Firecracker would refuse a request; empty if it would accept it. */
  static Optional<String> violation(
      State state, String method, String path, Map<String, Object> body) {
    Optional<Endpoint> endpoint =
        ENDPOINTS.stream()
            .filter(one -> one.method().equals(method) && one.path().matcher(path).matches())
            .findFirst();
    if (endpoint.isEmpty()) {
      return Optional.of("Invalid request method and/or path: " + method + " " + path + ".");
    }
    return endpoint
        .get()
        .fields()
        .violation(body)
        .or(() -> nested(body, "mem_backend", MEMORY))
        .or(() -> nested(body, "vsock_override", VSOCK_OVERRIDE))
        .or(() -> nestedList(body))
        .map(why -> "An error occurred when deserializing the json body of a request: " + why + ".")
        .or(() -> idViolation(path, body))
        .or(() -> phaseViolation(endpoint.get().phase(), state));
  }

  private static Optional<String> nested(Map<String, Object> body, String name, Fields fields) {
    return body.get(name) instanceof Map<?, ?> map ? fields.violation(map) : Optional.empty();
  }

  private static Optional<String> nestedList(Map<String, Object> body) {
    return body.get("network_overrides") instanceof List<?> list
        ? list.stream()
            .flatMap(
                one ->
                    one instanceof Map<?, ?> map
                        ? NETWORK_OVERRIDE.violation(map).stream()
                        : Optional.of("invalid type in `network_overrides`").stream())
            .findFirst()
        : Optional.empty();
  }

  private static Optional<String> idViolation(String path, Map<String, Object> body) {
    String last = path.substring(path.lastIndexOf('/') + 1);
    for (String name : List.of("drive_id", "iface_id")) {
      if (body.containsKey(name) && !last.equals(body.get(name))) {
        return Optional.of("The id from the path does not match the id from the body!");
      }
    }
    return Optional.empty();
  }

  private static Optional<String> phaseViolation(Phase phase, State state) {
    boolean booted = state == State.RUNNING || state == State.PAUSED;
    return switch (phase) {
      case ALWAYS -> Optional.empty();
      case BEFORE_BOOT ->
          booted
              ? Optional.of("The requested operation is not supported after starting the microVM.")
              : Optional.empty();
      case FRESH ->
          state == State.FRESH
              ? Optional.empty()
              : Optional.of(
                  "Load snapshot error: Loading a microVM snapshot not allowed after configuring"
                      + " boot-specific resources.");
      case AFTER_BOOT ->
          booted
              ? Optional.empty()
              : Optional.of(
                  "The requested operation is not supported before starting the microVM.");
      case PAUSED ->
          state == State.PAUSED
              ? Optional.empty()
              : Optional.of(
                  booted
                      ? "Create snapshot error: Cannot save the microVM state: the microVM is not"
                          + " paused."
                      : "The requested operation is not supported before starting the microVM.");
    };
  }
}
