package dev.isola.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.McpServer;
import dev.isola.document.request.Placement;
import dev.isola.spi.Bytes;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Writes a request as a document of the current version. */
final class SpecDocumentWriter {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  private SpecDocumentWriter() {}

  static Map<String, Object> write(CreateRequest request) {
    SandboxSpec spec = request.spec();
    Lifecycle lifecycle = request.lifecycle();
    Placement placement = request.placement();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("apiVersion", ApiVersion.CURRENT.wireName());
    document.put("id", spec.id().value());
    spec.image().ifPresent(image -> document.put("image", image));
    document.put("env", spec.env());
    spec.cwd().ifPresent(cwd -> document.put("cwd", cwd));
    spec.user().ifPresent(user -> document.put("user", user));
    spec.workspacePath().ifPresent(path -> document.put("workspacePath", path.toString()));
    document.put("workspaceMount", spec.workspaceMount());
    document.put("volumes", spec.volumes().stream().map(SpecDocumentWriter::volume).toList());
    document.put("seedFiles", seedFiles(spec.seedFiles()));
    spec.init().ifPresent(init -> document.put("init", command(init)));
    document.put("startupTimeoutMs", count(spec.startupTimeout(), MILLISECOND));
    document.put("tags", request.tags());
    lifecycle.ttl().ifPresent(ttl -> document.put("ttlSeconds", count(ttl, SECOND)));
    spec.linger().ifPresent(linger -> document.put("lingerSeconds", count(linger, SECOND)));
    document.put("autoResume", lifecycle.autoResume());
    document.put("whenIdle", name(lifecycle.whenIdle()));
    document.put("whenExpired", name(lifecycle.whenExpired()));
    document.put("resources", limits(spec.limits()));
    document.put("network", network(spec.network()));
    document.put("containerType", name(placement.workload()));
    request.mcpServer().ifPresent(server -> document.put("mcp", mcpServer(server)));
    document.put("gpus", spec.gpus());
    if (!placement.requirements().equals(Requirements.NONE)) {
      document.put("require", require(placement.requirements()));
    }
    return document;
  }

  static Map<String, Object> writeForBackend(SandboxSpec spec) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("apiVersion", ApiVersion.CURRENT.wireName());
    spec.image().ifPresent(image -> document.put("image", image));
    document.put("env", spec.env());
    Map<String, Object> secrets = new LinkedHashMap<>();
    spec.secretEnv().forEach((name, value) -> secrets.put(name, new String(value.reveal(), UTF_8)));
    document.put("secretEnv", secrets);
    document.put("cwd", spec.workingFolder());
    spec.user().ifPresent(user -> document.put("user", user));
    document.put("workspaceMount", spec.workspaceMount());
    spec.linger().ifPresent(linger -> document.put("lingerSeconds", count(linger, SECOND)));
    document.put("volumes", spec.volumes().stream().map(SpecDocumentWriter::volume).toList());
    document.put("resources", limits(spec.limits()));
    document.put("network", network(spec.network()));
    document.put("gpus", spec.gpus());
    return document;
  }

  private static Map<String, Object> volume(VolumeMount volume) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("type", name(volume.type()));
    document.put("source", volume.source());
    document.put("destination", volume.destination());
    document.put("readonly", volume.readOnly());
    return document;
  }

  /** Writes UTF-8 content as text, so that the document stays readable. */
  private static Map<String, Object> seedFiles(Map<String, Bytes> files) {
    Map<String, Object> document = new LinkedHashMap<>();
    files.forEach(
        (path, content) -> {
          String text = content.utf8();
          document.put(
              path,
              Bytes.utf8(text).equals(content)
                  ? text
                  : Map.of("base64", Base64.getEncoder().encodeToString(content.toArray())));
        });
    return document;
  }

  private static Object command(Command command) {
    if (command.equals(plainShell(command))) {
      return command.program();
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("mode", name(command.mode()));
    document.put("command", command.program());
    document.put("args", command.args());
    document.put("env", command.env());
    command.cwd().ifPresent(cwd -> document.put("cwd", cwd));
    command.user().ifPresent(user -> document.put("user", user));
    document.put("stdin", command.stdin());
    command.timeout().ifPresent(limit -> document.put("timeoutSeconds", count(limit, SECOND)));
    command.tag().ifPresent(tag -> document.put("tag", tag));
    return document;
  }

  private static Map<String, Object> mcpServer(McpServer server) {
    Command command = server.command();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("command", command.program());
    document.put("args", command.args());
    document.put("env", command.env());
    command.cwd().ifPresent(cwd -> document.put("cwd", cwd));
    command.user().ifPresent(user -> document.put("user", user));
    document.put("restart", name(server.restart()));
    return document;
  }

  private static Command plainShell(Command command) {
    return Command.shell(command.program());
  }

  private static Map<String, Object> limits(ResourceLimits limits) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("cpu", limits.cpu());
    document.put("memory", limits.memoryMb());
    document.put("disk", limits.diskMb());
    document.put("fileDescriptors", limits.fileDescriptors());
    document.put("processes", limits.processes());
    document.put("threads", limits.threads());
    document.put("networkBandwidth", limits.bandwidthMbps());
    limits.timeout().ifPresent(limit -> document.put("timeoutSeconds", count(limit, SECOND)));
    return document;
  }

  private static List<String> kinds(Set<LimitKind> kinds) {
    return kinds.stream().sorted().map(SpecDocumentWriter::name).toList();
  }

  /** Sorted, because the iteration order of a set differs between JVM runs. */
  private static Map<String, Object> require(Requirements require) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("isolation", name(require.isolation()));
    document.put(
        "capabilities", require.capabilities().stream().map(Capability::idOf).sorted().toList());
    document.put("limits", kinds(require.limits()));
    return document;
  }

  private static Map<String, Object> network(Network network) {
    Map<String, Object> document = new LinkedHashMap<>();
    network.mode().ifPresent(mode -> document.put("mode", name(mode)));
    document.put("allowDomains", List.copyOf(network.allowDomains()));
    document.put("blockDomains", List.copyOf(network.blockDomains()));
    document.put("exposePorts", List.copyOf(network.exposePorts()));
    if (!network.egress().equals(Egress.NONE)) {
      document.put("egress", EgressDocument.write(network.egress()));
    }
    return document;
  }

  /** Returns {@code duration} in units of {@code unit}, as an integer if possible. */
  private static Number count(Duration duration, Duration unit) {
    BigDecimal nanos =
        BigDecimal.valueOf(duration.getSeconds())
            .movePointRight(9)
            .add(BigDecimal.valueOf(duration.getNano()));
    BigDecimal count = nanos.divide(BigDecimal.valueOf(unit.toNanos())).stripTrailingZeros();
    return count.scale() <= 0 ? count.longValueExact() : count;
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
