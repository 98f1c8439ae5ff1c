package dev.isola.provider.microvmctl;

import dev.isola.codec.digest.Sha256;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.link.BootRecord;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A sandbox of this instance, as stored in the data folder. Written before the sandbox is created,
 * so that a crash leaves no sandbox that is not recorded.
 *
 * @param vm the id at the controller
 * @param ready whether the create was completed
 * @param agent whether the guest agent runs in it
 * @param folder the working folder of commands
 * @param timeout the default timeout of commands
 */
record VmRecord(
    SandboxId id,
    String vm,
    Instant createdAt,
    Instant deadline,
    boolean ready,
    boolean agent,
    String folder,
    Optional<Duration> timeout,
    Secret secret) {

  /** The longest time that a sandbox exists if its spec has no deadline. */
  private static final Duration DEFAULT_TTL = Duration.ofHours(24);

  static VmRecord of(SandboxSpec spec, InstanceId instance, Instant now, boolean agent) {
    return new VmRecord(
        spec.id(),
        vm(instance, spec.id()),
        now,
        now.plus(ttl(spec)).plus(spec.startupTimeout()),
        false,
        agent,
        spec.workingFolder(),
        spec.limits().timeout(),
        BootRecord.newSecret());
  }

  /**
   * Returns the id at the controller: installations that share a controller must not use the same.
   */
  private static String vm(InstanceId instance, SandboxId id) {
    return "isola" + HexFormat.of().formatHex(Sha256.of(instance + "/" + id), 0, 10);
  }

  private static Duration ttl(SandboxSpec spec) {
    return spec.deadline().orElse(DEFAULT_TTL);
  }

  /** The deadline counts from the end of the create; until then, the create may take its time. */
  VmRecord asReady(SandboxSpec spec, Instant now) {
    return new VmRecord(
        id, vm, createdAt, now.plus(ttl(spec)), true, agent, folder, timeout, secret);
  }

  /** Returns the time until the deadline; negative after it. */
  Duration remaining() {
    return Duration.between(Instant.now(), deadline);
  }

  String json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", id.value());
    json.put("vm", vm);
    json.put("createdAt", createdAt.toString());
    json.put("deadline", deadline.toString());
    json.put("ready", ready);
    json.put("agent", agent);
    json.put("folder", folder);
    timeout.ifPresent(time -> json.put("timeoutMs", time.toMillis()));
    json.put("secret", HexFormat.of().formatHex(secret.reveal()));
    return Json.text(json);
  }

  static VmRecord parse(String text) throws IOException {
    try {
      Map<String, Object> json = Json.parseObject(text);
      return new VmRecord(
          new SandboxId(text(json, "id")),
          text(json, "vm"),
          Instant.parse(text(json, "createdAt")),
          Instant.parse(text(json, "deadline")),
          Boolean.TRUE.equals(json.get("ready")),
          Boolean.TRUE.equals(json.get("agent")),
          text(json, "folder"),
          json.get("timeoutMs") instanceof Number millis
              ? Optional.of(Duration.ofMillis(millis.longValue()))
              : Optional.empty(),
          Secret.of(HexFormat.of().parseHex(text(json, "secret"))));
    } catch (MalformedJson | IllegalArgumentException | DateTimeException e) {
      throw new IOException("a record of a sandbox is malformed: " + e.getMessage(), e);
    }
  }

  private static String text(Map<String, Object> json, String name) {
    return String.valueOf(json.get(name));
  }
}
