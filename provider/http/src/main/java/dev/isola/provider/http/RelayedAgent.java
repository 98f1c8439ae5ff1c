package dev.isola.provider.http;

import dev.isola.codec.digest.Sha256;
import dev.isola.link.AgentBinary;
import dev.isola.link.BootRecord;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Secret;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The guest agent in sandboxes of a backend that relays: uploaded once, started by the create, and
 * reached by a command that joins its standard streams to the agent's socket.
 */
record RelayedAgent(Backend backend, InstanceId instance) {

  /** The agent reads its boot record from standard input, prints a line and detaches. */
  private static final String START =
      """
      mkdir -p -- "$3" "$4" && exec "$1" --detach --instance "$2" --sandbox "$5"
      """;

  /** Uploads the agent if the backend has it not. Returns the field {@code agent} of a create. */
  Map<String, Object> prepare(
      SandboxSpec spec, BackendInfo info, Secret secret, Supplier<Duration> remaining) {
    byte[] program = AgentBinary.content(info.architecture());
    String hash = Sha256.hex(program);
    if (!backend.hasAgent(hash)) {
      backend.putAgent(hash, program, remaining.get());
    }
    String folder = "/tmp/." + backend.ids().of(spec.id());
    String path = folder + "/agent";
    String socket = folder + "/socket";
    Map<String, Object> agent = new LinkedHashMap<>();
    agent.put("sha256", hash);
    agent.put("path", path);
    agent.put(
        "start",
        List.of(
            "sh",
            "-c",
            START,
            "sh",
            path,
            instance.value(),
            spec.workspaceMount(),
            spec.workingFolder(),
            spec.id().value()));
    agent.put(
        "input",
        Base64.getEncoder().encodeToString(bootRecord(spec, info, secret, socket).encode()));
    agent.put("connect", List.of(path, "--bridge", socket));
    return agent;
  }

  private BootRecord bootRecord(SandboxSpec spec, BackendInfo info, Secret secret, String socket) {
    BootRecord.Builder boot =
        BootRecord.forSpec(spec, instance.value(), secret, Map.of())
            .socket(Path.of(socket))
            .workspace(Optional.of(spec.workspaceMount()));
    if (info.features().contains(SpecFeature.USERS)) {
      boot.user(spec.user());
    }
    return boot.build();
  }
}
