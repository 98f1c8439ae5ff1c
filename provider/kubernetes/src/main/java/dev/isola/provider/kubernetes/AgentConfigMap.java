package dev.isola.provider.kubernetes;

import dev.isola.codec.digest.Sha256;
import dev.isola.codec.json.Json;
import dev.isola.link.AgentBinary;
import dev.isola.link.MachineArchitecture;
import dev.isola.spi.Bytes;
import dev.isola.spi.InstanceId;
import java.util.Base64;
import java.util.Map;

/**
 * The config map that brings the agent into pods of any image. It is immutable and named after its
 * content, so that versions coexist. Each instance has its own, so that it can be removed with the
 * instance.
 *
 * @param architecture as Kubernetes names it
 */
record AgentConfigMap(InstanceId instance, String name, String architecture, Bytes program) {
  static final String PROGRAM = "agent";

  /** The largest content of a config map that the API server accepts. */
  static final int MAX_BYTES = 1 << 20;

  /**
   * Returns the map for nodes of an architecture.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if there is no agent for it
   */
  static AgentConfigMap of(InstanceId instance, String architecture) {
    byte[] program = AgentBinary.content(MachineArchitecture.of(architecture).machine());
    String hash = Sha256.hex(program).substring(0, 16);
    return new AgentConfigMap(
        instance, "isola-" + instance + "-agent-" + hash, architecture, Bytes.of(program));
  }

  /** Returns the architecture of this machine as Kubernetes names it. */
  static String ownArchitecture() {
    return MachineArchitecture.ofHost().image();
  }

  Map<String, Object> body() {
    return Json.object(
        "apiVersion",
        "v1",
        "kind",
        "ConfigMap",
        "metadata",
        Json.object("name", name, "labels", PodLabels.ofInstance(instance)),
        "immutable",
        true,
        "binaryData",
        Map.of(PROGRAM, Base64.getEncoder().encodeToString(program.toArray())));
  }
}
