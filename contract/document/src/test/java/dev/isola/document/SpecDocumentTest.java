package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.Placement;
import dev.isola.document.request.Workload;
import dev.isola.spi.Bytes;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** P11, S1 to S4: the document form of a spec. */
class SpecDocumentTest {
  private static final SandboxId FRESH = new SandboxId("fresh");

  @Test
  void emptyDocumentGetsAllDefaults() {
    assertThat(read(Map.of())).isEqualTo(SandboxSpec.builder(FRESH).build());
    assertThat(read(Map.of("apiVersion", "v2"))).isEqualTo(SandboxSpec.builder(FRESH).build());
  }

  @Test
  void secretVariablesAreReadAndNeverWritten() {
    SandboxSpec spec =
        read(Map.of("env", Map.of("A", "1"), "secretEnv", Map.of("KEY", "planted-value")));
    assertThat(spec.environment()).containsEntry("A", "1").containsEntry("KEY", "planted-value");
    assertThat(spec.env()).containsOnlyKeys("A");
    assertThat(spec.toBuilder().build()).isEqualTo(spec);
    assertThat(spec.toString()).contains("KEY").doesNotContain("planted-value");
    assertThat(SpecDocument.toMap(CreateRequest.auto(spec)).toString())
        .doesNotContain("planted-value", "KEY");
  }

  @Test
  void invalidSecretVariablesAreReportedWithoutValues() {
    for (Map<String, Object> wrong :
        List.<Map<String, Object>>of(
            Map.of("secretEnv", List.of("KEY")),
            Map.of("secretEnv", Map.of("KEY", "planted\0value")),
            Map.of("secretEnv", Map.of("NOT A NAME", "planted-value")),
            Map.of("env", Map.of("KEY", "1"), "secretEnv", Map.of("KEY", "planted-value")))) {
      assertThatExceptionOfType(InvalidRequest.class)
          .isThrownBy(() -> read(wrong))
          .withMessageContaining("secretEnv")
          .satisfies(e -> assertThat(e.toString()).doesNotContain("planted"));
    }
  }

  @Test
  void everyFieldIsRead() {
    CreateRequest request =
        request(
            document(
                "id",
                "box1",
                "image",
                "python",
                "env",
                Map.of("A", "1"),
                "cwd",
                "/src",
                "user",
                "agent",
                "workspacePath",
                "/srv/p",
                "workspaceMount",
                "/work",
                "volumes",
                List.of(
                    Map.of("source", "/s", "destination", "/d", "readonly", true),
                    Map.of("type", "volume", "source", "v", "destination", "/v"),
                    Map.of("type", "tmpfs", "destination", "/t")),
                "seedFiles",
                Map.of("a.txt", "hé", "b.bin", Map.of("base64", "/wA=")),
                "init",
                Map.of(
                    "mode", "argv",
                    "command", "make",
                    "args", List.of("all"),
                    "env", Map.of("B", "2"),
                    "cwd", "/x",
                    "user", "root",
                    "stdin", true,
                    "timeoutSeconds", 1.5,
                    "tag", "init"),
                "startupTimeoutMs",
                1500,
                "tags",
                Map.of("team", "red"),
                "ttlSeconds",
                600,
                "lingerSeconds",
                0,
                "autoResume",
                true,
                "whenIdle",
                "pause",
                "whenExpired",
                "snapshot",
                "resources",
                Map.of(
                    "cpu", 0.5,
                    "memory", 256,
                    "disk", 512,
                    "fileDescriptors", 64,
                    "processes", 10,
                    "threads", 200,
                    "networkBandwidth", 20,
                    "timeoutSeconds", 30),
                "network",
                Map.of(
                    "mode", "bridge",
                    "allowDomains", List.of("a.org"),
                    "blockDomains", List.of("b.org"),
                    "exposePorts", List.of(80, 8000)),
                "containerType",
                "mcp_server",
                "gpus",
                2,
                "require",
                Map.of(
                    "isolation", "kernel",
                    "capabilities", List.of("port-dialing", "pausing"),
                    "limits", List.of("memory", "file_descriptors"))));

    assertThat(request.spec())
        .isEqualTo(
            SandboxSpec.builder(new SandboxId("box1"))
                .image("python")
                .env("A", "1")
                .cwd("/src")
                .user("agent")
                .workspacePath(Path.of("/srv/p"))
                .workspaceMount("/work")
                .volume(VolumeMount.bind("/s", "/d", true))
                .volume(new VolumeMount(VolumeMount.Type.VOLUME, "v", "/v", false))
                .volume(new VolumeMount(VolumeMount.Type.TMPFS, "", "/t", false))
                .seedFile("a.txt", Bytes.utf8("hé"))
                .seedFile("b.bin", Bytes.of(new byte[] {-1, 0}))
                .init(
                    Command.argv("make", "all")
                        .withEnv("B", "2")
                        .withCwd("/x")
                        .withUser("root")
                        .withStdin()
                        .withTimeout(Duration.ofMillis(1500))
                        .withTag("init"))
                .startupTimeout(Duration.ofMillis(1500))
                .linger(Duration.ZERO)
                .limits(
                    new ResourceLimits(
                        0.5, 256, 512, 64, 10, 200, 20, Optional.of(Duration.ofSeconds(30))))
                .network(
                    new Network(
                        Optional.of(NetworkMode.BRIDGE),
                        List.of("a.org"),
                        List.of("b.org"),
                        List.of(80, 8000)))
                .gpus(2)
                .build());
    assertThat(request.lifecycle())
        .isEqualTo(
            new Lifecycle(
                Optional.of(Duration.ofMinutes(10)),
                Optional.empty(),
                ExpiryAction.PAUSE,
                ExpiryAction.SNAPSHOT,
                true));
    assertThat(request.placement())
        .isEqualTo(
            Placement.DEFAULT
                .withWorkload(Workload.MCP_SERVER)
                .withRequirements(
                    new Requirements(
                        Isolation.KERNEL,
                        Set.of(Pausing.class, PortDialing.class),
                        Set.of(LimitKind.FILE_DESCRIPTORS, LimitKind.MEMORY))));
    assertThat(request.tags()).isEqualTo(Map.of("team", "red"));
  }

  @Test
  void requiredLimitsOfTheResourcesSectionAreRequirements() {
    CreateRequest request =
        request(
            Map.of(
                "resources", Map.of("memory", 64, "required", List.of("memory", "memory", "cpu")),
                "require", Map.of("isolation", "container", "limits", List.of("disk"))));

    Requirements both =
        new Requirements(
            Isolation.CONTAINER, Set.of(), Set.of(LimitKind.MEMORY, LimitKind.CPU, LimitKind.DISK));
    assertThat(request.placement().requirements()).isEqualTo(both);
    assertThat(request(SpecDocument.toMap(request))).isEqualTo(request);
  }

  @Test
  void aliasesAreRead() {
    CreateRequest request =
        request(
            document(
                "runtimeId",
                "box1",
                "metadata",
                Map.of("a", "b"),
                "container_type",
                "mcp_server",
                "startupTimeout",
                5));

    assertThat(request.spec().id()).isEqualTo(new SandboxId("box1"));
    assertThat(request.tags()).containsEntry("a", "b");
    assertThat(request.placement().workload()).isEqualTo(Workload.MCP_SERVER);
    assertThat(request.spec().startupTimeout()).isEqualTo(Duration.ofMillis(5));
  }

  @Test
  void initAsTextIsAShellCommand() {
    assertThat(read(Map.of("init", "echo hi")).init()).contains(Command.shell("echo hi"));
  }

  @Test
  void nullIsAbsent() {
    Map<String, @Nullable Object> document = new HashMap<>();
    for (String field :
        List.of("apiVersion", "id", "image", "env", "volumes", "resources", "ttlSeconds")) {
      document.put(field, null);
    }

    assertThat(read(document)).isEqualTo(SandboxSpec.builder(FRESH).build());
  }

  static Stream<Arguments> networks() {
    return Stream.of(
        Arguments.of(Map.of(), Optional.empty()),
        Arguments.of(Map.of("enabled", false), Optional.of(NetworkMode.NONE)),
        Arguments.of(Map.of("enabled", true), Optional.of(NetworkMode.BRIDGE)),
        Arguments.of(Map.of("enabled", true, "mode", "host"), Optional.of(NetworkMode.HOST)),
        Arguments.of(Map.of("enabled", false, "mode", "none"), Optional.of(NetworkMode.NONE)),
        Arguments.of(Map.of("mode", "none"), Optional.of(NetworkMode.NONE)));
  }

  @ParameterizedTest
  @MethodSource("networks")
  void networkEnabledAndModeAreCombined(Map<String, Object> network, Optional<NetworkMode> mode) {
    assertThat(read(Map.of("network", network)).network().mode()).isEqualTo(mode);
  }

  static Stream<Arguments> wrong() {
    return Stream.of(
        wrong("id", "must be 1 to 32 lower-case letters and digits: 'A'", "id", "A"),
        wrong("runtimeId", "must be 1 to 32", "runtimeId", ""),
        wrong("id", "must be a string, not a number", "id", 7),
        wrong("id", "is given twice, as id and runtimeId", "id", "a", "runtimeId", "b"),
        wrong(
            "tags", "is given twice, as tags and metadata", "tags", Map.of(), "metadata", Map.of()),
        wrong(
            "require.isolation",
            "must be one of process, container, kernel, vm: container2, did you mean 'container'?",
            "require",
            Map.of("isolation", "container2")),
        wrong(
            "require.capabilities[1]",
            "must be one of attaching, terminals, watching, port-dialing, usage-reporting, pausing,"
                + " renewing, snapshotting, forking, memory-forking, volumes: pause",
            "require",
            Map.of("capabilities", List.of("pausing", "pause"))),
        wrong(
            "require.limits[0]",
            "must be a string, not a number",
            "require",
            Map.of("limits", List.of(1))),
        wrong("require.floor", "is not a field", "require", Map.of("floor", "vm")),
        wrong("require", "must be an object, not a string", "require", "vm"),
        wrong("image", "must be a string, not a list", "image", List.of()),
        wrong("image", "is blank", "image", ""),
        wrong("env", "must be an object, not a string", "env", "A=1"),
        wrong("env.PORT", "must be a string, not a number", "env", Map.of("PORT", 80)),
        wrong("env.A", "must be a string, not null", "env", nulls("A")),
        wrong("env", "has an invalid name: '1'", "env", Map.of("1", "x")),
        wrong("cwd", "must be an absolute path", "cwd", "x"),
        wrong("workspacePath", "is not a path", "workspacePath", "/a\0"),
        wrong("workspacePath", "must be absolute", "workspacePath", "a"),
        wrong("volumes", "must be a list, not an object", "volumes", Map.of()),
        wrong("volumes[0]", "must be an object, not a string", "volumes", List.of("/a:/b")),
        wrong("volumes[0].source", "is missing", "volumes", List.of(Map.of("destination", "/d"))),
        wrong("volumes[0].destination", "is missing", "volumes", List.of(Map.of("source", "/s"))),
        wrong(
            "volumes[1].type",
            "must be one of bind, volume, tmpfs: bindd, did you mean 'bind'?",
            "volumes",
            List.of(
                Map.of("source", "/s", "destination", "/d"),
                Map.of("type", "bindd", "source", "/s", "destination", "/e"))),
        wrong(
            "volumes[0].target",
            "is not a field",
            "volumes",
            List.of(Map.of("source", "/s", "destination", "/d", "target", "/x"))),
        wrong(
            "volumes[0].readonly",
            "must be true or false, not a string",
            "volumes",
            List.of(Map.of("source", "/s", "destination", "/d", "readonly", "yes"))),
        wrong(
            "seedFiles.a",
            "must be a string, or an object with base64",
            "seedFiles",
            Map.of("a", 1)),
        wrong("seedFiles.a.base64", "is missing", "seedFiles", Map.of("a", Map.of())),
        wrong(
            "seedFiles.a.base64", "is not base64", "seedFiles", Map.of("a", Map.of("base64", "%"))),
        wrong("mcp", "must be an object", "mcp", "npx server"),
        wrong("mcp", "needs containerType mcp_server", "mcp", Map.of("command", "npx")),
        wrong("mcp.command", "is missing", "mcp", Map.of("args", List.of("x"))),
        wrong(
            "mcp", "command is empty", "containerType", "mcp_server", "mcp", Map.of("command", "")),
        wrong(
            "mcp.command",
            "put its arguments into mcp.args",
            "containerType",
            "mcp_server",
            "mcp",
            Map.of("command", "npx -y server")),
        wrong(
            "mcp.cwd",
            "must be an absolute path",
            "containerType",
            "mcp_server",
            "mcp",
            Map.of("command", "x", "cwd", "a")),
        wrong(
            "mcp.args",
            "are longer than 65536 characters",
            "containerType",
            "mcp_server",
            "mcp",
            Map.of("command", "x", "args", List.of("a".repeat(70_000)))),
        wrong(
            "mcp.restart",
            "must be one of always, on_failure, never",
            "containerType",
            "mcp_server",
            "mcp",
            Map.of("command", "x", "restart", "no")),
        wrong(
            "mcp.comand",
            "did you mean",
            "containerType",
            "mcp_server",
            "mcp",
            Map.of("command", "x", "comand", "y")),
        wrong("init", "must be a string for the shell, or an object with command", "init", 1),
        wrong("init", "is rejected: the command is invalid: command is empty", "init", ""),
        wrong("init.command", "is missing", "init", Map.of("mode", "argv")),
        wrong(
            "init.mode",
            "must be one of shell, argv: exec",
            "init",
            Map.of("mode", "exec", "command", "x")),
        wrong(
            "init.args[0]", "must be a string", "init", Map.of("command", "x", "args", List.of(1))),
        wrong(
            "init", "timeout is not positive", "init", Map.of("command", "x", "timeoutSeconds", 0)),
        wrong("startupTimeoutMs", "must be more than 0", "startupTimeoutMs", 0),
        wrong("ttlSeconds", "must be a number, not a string", "ttlSeconds", "10m"),
        wrong("ttlSeconds", "must be a number: NaN", "ttlSeconds", Double.NaN),
        wrong("ttlSeconds", "must be more than 0", "ttlSeconds", -5),
        wrong("ttlSeconds", "is out of range", "ttlSeconds", 1e300),
        wrong("ttlSeconds", "is out of range", "ttlSeconds", new BigDecimal("1e-999999999")),
        wrong("ttlSeconds", "is out of range", "ttlSeconds", new BigDecimal("1e999999999")),
        wrong("lingerSeconds", "must be 0 to 3650 days", "lingerSeconds", -1),
        wrong("autoResume", "must be true or false", "autoResume", "yes"),
        wrong("whenIdle", "must be one of destroy, pause, stop, snapshot", "whenIdle", "sleep"),
        wrong(
            "whenExpired", "must be one of destroy, pause, stop, snapshot", "whenExpired", "sleep"),
        wrong("resources", "must be an object, not a number", "resources", 4),
        wrong("resources.cpu", "must be more than 0", "resources", Map.of("cpu", 0)),
        wrong(
            "resources.cpu",
            "must be a number: Infinity",
            "resources",
            Map.of("cpu", Double.POSITIVE_INFINITY)),
        wrong(
            "resources.memory", "must be a whole number: 1.5", "resources", Map.of("memory", 1.5)),
        wrong("resources.memory", "must be 4 to", "resources", Map.of("memory", 1)),
        wrong(
            "resources.disk",
            "must be a whole number",
            "resources",
            Map.of("disk", new BigDecimal("1e30"))),
        wrong(
            "resources.fileDescriptors",
            "is out of range",
            "resources",
            Map.of("fileDescriptors", 1L << 40)),
        wrong(
            "resources.networkBandwidth",
            "must be 1 to",
            "resources",
            Map.of("networkBandwidth", 0)),
        wrong(
            "resources.timeoutSeconds",
            "must be more than 0",
            "resources",
            Map.of("timeoutSeconds", 0)),
        wrong(
            "resources.memoryMB",
            "is not a field, did you mean 'memory'?",
            "resources",
            Map.of("memoryMB", 1)),
        wrong(
            "resources.cpuCount",
            "is not a field, did you mean 'cpu'?",
            "resources",
            Map.of("cpuCount", 1)),
        wrong("network.mode", "did you mean 'bridge'?", "network", Map.of("mode", "brigde")),
        wrong(
            "network.enabled",
            "contradicts network.mode",
            "network",
            Map.of("mode", "none", "enabled", true)),
        wrong(
            "network.enabled",
            "contradicts network.mode",
            "network",
            Map.of("mode", "host", "enabled", false)),
        wrong(
            "network.allowDomains[0]",
            "must be a string",
            "network",
            Map.of("allowDomains", List.of(1))),
        wrong(
            "network.exposePorts[0]",
            "must be a number, not a string",
            "network",
            Map.of("exposePorts", List.of("80"))),
        wrong(
            "network.exposePorts",
            "must be 1 to 65535",
            "network",
            Map.of("exposePorts", List.of(0))),
        wrong("containerType", "must be one of agent_workspace, mcp_server", "containerType", "vm"),
        wrong("gpus", "must be 0 to 64", "gpus", 65),
        wrong("gpus", "is out of range", "gpus", Long.MAX_VALUE),
        wrong("imgae", "is not a field, did you mean 'image'?", "imgae", "x"),
        wrong(
            "workspace_path",
            "is not a field, did you mean 'workspacePath'?",
            "workspace_path",
            "/x"),
        wrong("colour", "is not a field", "colour", "red"),
        wrong(
            "networkMode",
            "is not a field here; it belongs to apiVersion v1",
            "networkMode",
            "none"),
        wrong(
            "resourceLimits",
            "is not a field here; it belongs to apiVersion v1",
            "resourceLimits",
            Map.of()),
        wrong("apiVersion", "is not supported: v3; v1 and v2 are", "apiVersion", "v3"),
        wrong("apiVersion", "is not supported: 2; v1 and v2 are", "apiVersion", 2));
  }

  private static Arguments wrong(String field, String problem, Object... document) {
    return Arguments.of(field, problem, document(document));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("wrong")
  void invalidFieldIsReportedByName(String field, String problem, Map<String, Object> document) {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> read(document))
        .satisfies(
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.INVALID_SPEC);
              assertThat(e.context()).containsOnlyKeys(field);
              assertThat(e.context().get(field)).contains(problem);
            })
        .withMessageContaining(field + " ")
        .withMessageContaining(problem);
  }

  @Test
  void allViolationsAreReportedAtOnce() {
    ThrowingCallable reading =
        () ->
            read(
                document(
                    "id",
                    "A!",
                    "imgae",
                    "x",
                    "env",
                    Map.of("A", 1, "2", "x"),
                    "ttlSeconds",
                    -1,
                    "resources",
                    Map.of("cpu", "two", "memory", 1, "speed", 9),
                    "network",
                    Map.of("mode", "wifi", "exposePorts", List.of(0)),
                    "gpus",
                    99));

    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(reading)
        .satisfies(
            e ->
                assertThat(e.context())
                    .containsOnlyKeys(
                        "id",
                        "imgae",
                        "env.A",
                        "env",
                        "ttlSeconds",
                        "resources.cpu",
                        "resources.memory",
                        "resources.speed",
                        "network.mode",
                        "network.exposePorts",
                        "gpus"))
        .withMessageEndingWith("correct these 11 fields");
  }

  @Test
  void longValuesAreTruncatedInMessages() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(
            () -> read(Map.of("x".repeat(100_000), 1, "containerType", "y".repeat(100_000))))
        .satisfies(e -> assertThat(String.valueOf(e.getMessage()).length()).isLessThan(1000));
  }

  @Test
  void wholeNumbersMayBeWrittenAsDecimals() {
    assertThat(read(Map.of("resources", Map.of("memory", 512.0))).limits().memoryMb())
        .isEqualTo(512);
  }

  @Test
  void writesDefaults() {
    Map<String, Object> document =
        SpecDocument.toMap(CreateRequest.auto(SandboxSpec.builder(FRESH).build()));

    assertThat(document)
        .containsEntry("apiVersion", "v2")
        .containsEntry("id", "fresh")
        .containsEntry("workspaceMount", "/workspace")
        .containsEntry("startupTimeoutMs", 60_000L)
        .containsEntry("containerType", "agent_workspace")
        .containsEntry("autoResume", false)
        .doesNotContainKeys(
            "image", "cwd", "user", "workspacePath", "init", "ttlSeconds", "lingerSeconds");
    assertThat(document.get("resources"))
        .isEqualTo(
            Map.of(
                "cpu",
                1.0,
                "memory",
                1024L,
                "disk",
                10_240L,
                "fileDescriptors",
                1024,
                "processes",
                100,
                "threads",
                1024,
                "networkBandwidth",
                100));
  }

  @Test
  void threadsAreNeverFewerThanProcessesUnlessTheSpecSaysSo() {
    assertThat(limits(Map.of("processes", 3000)).threads()).isEqualTo(3000);
    assertThat(limits(Map.of("processes", 3)).threads()).isEqualTo(1024);
    assertThat(limits(Map.of("processes", 3000, "threads", 50)).threads()).isEqualTo(50);
  }

  private static ResourceLimits limits(Map<String, Object> resources) {
    return SpecDocument.fromMap(Map.of("resources", resources), () -> FRESH).spec().limits();
  }

  @Test
  void writesTextAsTextAndBytesAsBase64() {
    SandboxSpec spec =
        SandboxSpec.builder(FRESH)
            .seedFile("t", Bytes.utf8("é"))
            .seedFile("b", Bytes.of(new byte[] {-1}))
            .init(Command.shell("make"))
            .build();

    assertThat(SpecDocument.toMap(CreateRequest.auto(spec).withTtl(Duration.ofMillis(1500))))
        .containsEntry("seedFiles", Map.of("t", "é", "b", Map.of("base64", "/w==")))
        .containsEntry("init", "make")
        .containsEntry("ttlSeconds", new BigDecimal("1.5"));
  }

  /** Sorted, so that the hash of a document is the same in every JVM run. */
  @Test
  void writesRequirementsSorted() {
    Requirements much =
        new Requirements(
            Isolation.VM,
            Set.of(Watching.class, Pausing.class, Attaching.class),
            Set.of(LimitKind.TIMEOUT, LimitKind.CPU, LimitKind.DISK));
    assertThat(
            SpecDocument.toMap(
                CreateRequest.auto(SandboxSpec.builder(FRESH).build()).requiring(much)))
        .containsEntry(
            "require",
            Map.of(
                "isolation", "vm",
                "capabilities", List.of("attaching", "pausing", "watching"),
                "limits", List.of("cpu", "disk", "timeout")));
    assertThat(SpecDocument.toMap(CreateRequest.auto(SandboxSpec.builder(FRESH).build())))
        .doesNotContainKey("require");
  }

  private static CreateRequest request(Map<String, ?> document) {
    return SpecDocument.fromMap(document, () -> FRESH);
  }

  private static SandboxSpec read(Map<String, ?> document) {
    return request(document).spec();
  }

  private static Map<String, @Nullable Object> nulls(String... names) {
    Map<String, @Nullable Object> map = new HashMap<>();
    Arrays.asList(names).forEach(name -> map.put(name, null));
    return map;
  }

  private static Map<String, Object> document(Object... namesAndValues) {
    Map<String, Object> document = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      document.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return document;
  }
}
