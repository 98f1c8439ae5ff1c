package dev.isola.spi.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.Bytes;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** S1 to S4: every rule of a spec, at its boundaries. */
class SpecValidationTest {
  private static final SandboxId ID = new SandboxId("box1");
  private static final Duration TEN_YEARS = Duration.ofDays(3650);
  private static final ResourceLimits LIMITS = ResourceLimits.DEFAULT;

  private interface Change extends Consumer<SandboxSpec.Builder> {}

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/.isola",
        "/.isola/",
        "//.isola",
        "/./.isola",
        "/.isola/agent",
        "/.isola/./layer",
        "/proc",
        "/proc/sys/kernel",
        "/dev",
        "/dev/shm",
        "/sys",
        "/sys//fs",
        "//",
        "/."
      })
  void nothingIsMountedOnReservedPaths(String path) {
    SandboxSpec.Builder mount = SandboxSpec.builder(ID).workspaceMount(path);
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(mount::build)
        .withMessageContaining("workspaceMount");
    for (VolumeMount.Type type : VolumeMount.Type.values()) {
      String source =
          type == VolumeMount.Type.TMPFS ? "" : type == VolumeMount.Type.BIND ? "/srv" : "name";
      SandboxSpec.Builder over = SandboxSpec.builder(ID).volume(volume(type, source, path));
      assertThatExceptionOfType(InvalidRequest.class)
          .isThrownBy(over::build)
          .withMessageContaining("volumes");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/.isola2", "/process", "/device/x", "/a/proc", "/home/dev", "/system"})
  void pathsThatOnlyLookReservedCanBeMountedOn(String path) {
    assertThatCode(() -> SandboxSpec.builder(ID).workspaceMount(path).build())
        .doesNotThrowAnyException();
  }

  @Test
  void equivalentDestinationsAreDuplicates() {
    SandboxSpec.Builder twice =
        SandboxSpec.builder(ID)
            .volume(volume(VolumeMount.Type.TMPFS, "", "/data"))
            .volume(volume(VolumeMount.Type.TMPFS, "", "/data/."));
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(twice::build)
        .withMessageContaining("twice");
  }

  private static Arguments valid(String what, Change change) {
    return Arguments.of(what, change);
  }

  static Stream<Arguments> valid() {
    return Stream.of(
        valid("nothing but an id", b -> {}),
        valid("image of 512 characters", b -> b.image("x".repeat(512))),
        valid("env name of one letter", b -> b.env("A", "")),
        valid("env name with underscore and digits", b -> b.env("_A1b", "\n=\"")),
        valid("user with group", b -> b.user("1000:1000")),
        valid("user of 128 characters", b -> b.user("x".repeat(128))),
        valid("shortest startup timeout", b -> b.startupTimeout(Duration.ofNanos(1))),
        valid("longest startup timeout", b -> b.startupTimeout(TEN_YEARS)),
        valid("longest deadline", b -> b.deadline(TEN_YEARS)),
        valid("no linger", b -> b.linger(Duration.ZERO)),
        valid("longest linger", b -> b.linger(TEN_YEARS)),
        valid("64 gpus", b -> b.gpus(64)),
        valid("deep mount", b -> b.workspaceMount("/a/b/c")),
        valid("dots in a name", b -> b.cwd("/a/..b/c..")),
        valid("absolute workspace path", b -> b.workspacePath(Path.of("/srv/x"))),
        valid("relative seed file", b -> b.seedFile("a/b.txt", Bytes.utf8("x"))),
        valid("absolute seed file", b -> b.seedFile("/etc/x", Bytes.utf8(""))),
        valid("seed path of 4096", b -> b.seedFile("x".repeat(4096), Bytes.utf8(""))),
        valid("64 MiB of seeds", b -> b.seedFile("a", Bytes.of(new byte[64 << 20]))),
        valid("bind", b -> b.volume(VolumeMount.bind("/", "/host", true))),
        valid("named volume", b -> b.volume(volume(VolumeMount.Type.VOLUME, "a.b_c-1", "/d"))),
        valid(
            "volume name of 128",
            b -> b.volume(volume(VolumeMount.Type.VOLUME, "x".repeat(128), "/d"))),
        valid("tmpfs", b -> b.volume(volume(VolumeMount.Type.TMPFS, "", "/tmp"))),
        valid("smallest cpu", b -> b.limits(LIMITS.withCpu(Double.MIN_VALUE))),
        valid("largest cpu", b -> b.limits(LIMITS.withCpu(1024))),
        valid("smallest memory", b -> b.limits(LIMITS.withMemoryMb(4))),
        valid("largest memory", b -> b.limits(LIMITS.withMemoryMb(64L << 20))),
        valid("smallest disk", b -> b.limits(LIMITS.withDiskMb(1))),
        valid("largest disk", b -> b.limits(LIMITS.withDiskMb(1L << 30))),
        valid("fewest descriptors", b -> b.limits(LIMITS.withFileDescriptors(16))),
        valid("most descriptors", b -> b.limits(LIMITS.withFileDescriptors(1 << 20))),
        valid("one process", b -> b.limits(LIMITS.withProcesses(1))),
        valid("one thread", b -> b.limits(LIMITS.withThreads(1))),
        valid("most processes", b -> b.limits(LIMITS.withProcesses(1 << 22))),
        valid("least bandwidth", b -> b.limits(bandwidth(1))),
        valid("most bandwidth", b -> b.limits(bandwidth(1 << 20))),
        valid("a timeout", b -> b.limits(LIMITS.withTimeout(Duration.ofMillis(1)))),
        valid("first port", b -> b.network(ports(1))),
        valid("last port", b -> b.network(ports(65_535))),
        valid(
            "domains",
            b -> b.network(allow("pypi.org", "*.github.com", "localhost", "a-b.c1", "1.2.3.4"))),
        valid("label of 63", b -> b.network(allow("x".repeat(63) + ".org"))),
        valid("blocked domains without network", b -> b.network(block(NetworkMode.NONE, "x.org"))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("valid")
  void isAccepted(String what, Consumer<SandboxSpec.Builder> change) {
    SandboxSpec.Builder builder = SandboxSpec.builder(ID);
    change.accept(builder);

    assertThatCode(builder::build).as(what).doesNotThrowAnyException();
  }

  private static Arguments invalid(String field, String problem, Change change) {
    return Arguments.of(field, problem, change);
  }

  static Stream<Arguments> invalid() {
    return Stream.of(
        invalid("image", "is blank", b -> b.image(" ")),
        invalid("image", "is longer than 512", b -> b.image("x".repeat(513))),
        invalid("image", "contains a NUL", b -> b.image("a\0")),
        invalid("env", "has an invalid name: ''", b -> b.env("", "x")),
        invalid("env", "has an invalid name: '1A'", b -> b.env("1A", "x")),
        invalid("env", "has an invalid name: 'A-B'", b -> b.env("A-B", "x")),
        invalid("env", "has an invalid name: 'A\n'", b -> b.env("A\n", "x")),
        invalid("env.A", "contains a NUL", b -> b.env("A", "\0")),
        invalid("user", "is blank", b -> b.user("")),
        invalid("user", "is longer than 128", b -> b.user("x".repeat(129))),
        invalid("startupTimeout", "must be more than 0", b -> b.startupTimeout(Duration.ZERO)),
        invalid(
            "startupTimeout", "at most 3650 days", b -> b.startupTimeout(TEN_YEARS.plusNanos(1))),
        invalid("deadline", "must be more than 0", b -> b.deadline(Duration.ZERO)),
        invalid("deadline", "must be more than 0", b -> b.deadline(Duration.ofSeconds(-1))),
        invalid("deadline", "at most 3650 days", b -> b.deadline(TEN_YEARS.plusNanos(1))),
        invalid("linger", "must be 0 to 3650 days", b -> b.linger(Duration.ofNanos(-1))),
        invalid(
            "linger", "must be 0 to 3650 days", b -> b.linger(Duration.ofSeconds(Long.MAX_VALUE))),
        invalid("gpus", "must be 0 to 64", b -> b.gpus(-1)),
        invalid("gpus", "must be 0 to 64", b -> b.gpus(65)),
        invalid("workspaceMount", "must be an absolute path", b -> b.workspaceMount("work")),
        invalid("workspaceMount", "must be an absolute path", b -> b.workspaceMount("")),
        invalid("workspaceMount", "cannot be the root folder", b -> b.workspaceMount("/")),
        invalid("workspaceMount", "contains '..'", b -> b.workspaceMount("/a/../b")),
        invalid("workspaceMount", "contains a NUL", b -> b.workspaceMount("/a\0")),
        invalid("cwd", "must be an absolute path", b -> b.cwd("src")),
        invalid("cwd", "contains '..'", b -> b.cwd("/..")),
        invalid("workspacePath", "must be absolute", b -> b.workspacePath(Path.of("x"))),
        invalid("seedFiles", "is blank", b -> b.seedFile("", Bytes.utf8(""))),
        invalid(
            "seedFiles", "is longer than 4096", b -> b.seedFile("x".repeat(4097), Bytes.utf8(""))),
        invalid("seedFiles", "contains a NUL", b -> b.seedFile("a\0", Bytes.utf8(""))),
        invalid("seedFiles", "has a path with '..'", b -> b.seedFile("../x", Bytes.utf8(""))),
        invalid("seedFiles", "has a path with '..'", b -> b.seedFile("a/..", Bytes.utf8(""))),
        invalid(
            "seedFiles",
            "hold more than 64 MiB",
            b ->
                b.seedFile("a", Bytes.of(new byte[64 << 20])).seedFile("b", Bytes.of(new byte[1]))),
        invalid(
            "volumes",
            "must be an absolute path: 'd'",
            b -> b.volume(VolumeMount.bind("/s", "d", false))),
        invalid(
            "volumes",
            "must be an absolute path: 's'",
            b -> b.volume(VolumeMount.bind("s", "/d", false))),
        invalid("volumes", "contains '..'", b -> b.volume(VolumeMount.bind("/s", "/d/..", false))),
        invalid(
            "volumes",
            "cannot be mounted on the root",
            b -> b.volume(VolumeMount.bind("/s", "/", false))),
        invalid(
            "volumes",
            "are mounted twice on /d",
            b ->
                b.volume(VolumeMount.bind("/s", "/d", false))
                    .volume(VolumeMount.bind("/t", "/d", true))),
        invalid(
            "volumes",
            "has an invalid name: '/v'",
            b -> b.volume(volume(VolumeMount.Type.VOLUME, "/v", "/d"))),
        invalid(
            "volumes",
            "has an invalid name: ''",
            b -> b.volume(volume(VolumeMount.Type.VOLUME, "", "/d"))),
        invalid(
            "volumes",
            "has an invalid name",
            b -> b.volume(volume(VolumeMount.Type.VOLUME, "x".repeat(129), "/d"))),
        invalid(
            "volumes",
            "of type tmpfs have no source",
            b -> b.volume(volume(VolumeMount.Type.TMPFS, "x", "/d"))),
        invalid("limits.cpu", "must be more than 0", b -> b.limits(LIMITS.withCpu(0))),
        invalid("limits.cpu", "must be more than 0", b -> b.limits(LIMITS.withCpu(Double.NaN))),
        invalid("limits.cpu", "at most 1024", b -> b.limits(LIMITS.withCpu(1024.1))),
        invalid("limits.memoryMb", "must be 4 to", b -> b.limits(LIMITS.withMemoryMb(3))),
        invalid(
            "limits.memoryMb", "must be 4 to", b -> b.limits(LIMITS.withMemoryMb((64L << 20) + 1))),
        invalid("limits.diskMb", "must be 1 to", b -> b.limits(LIMITS.withDiskMb(0))),
        invalid("limits.diskMb", "must be 1 to", b -> b.limits(LIMITS.withDiskMb((1L << 30) + 1))),
        invalid(
            "limits.fileDescriptors",
            "must be 16 to",
            b -> b.limits(LIMITS.withFileDescriptors(15))),
        invalid(
            "limits.fileDescriptors",
            "1048576",
            b -> b.limits(LIMITS.withFileDescriptors((1 << 20) + 1))),
        invalid("limits.processes", "must be 1 to", b -> b.limits(LIMITS.withProcesses(0))),
        invalid(
            "limits.processes",
            "4194304",
            b -> b.limits(LIMITS.withThreads(4).withProcesses((1 << 22) + 1).withThreads(4))),
        invalid("limits.threads", "must be 1 to", b -> b.limits(LIMITS.withThreads(0))),
        invalid("limits.threads", "4194304", b -> b.limits(LIMITS.withThreads((1 << 22) + 1))),
        invalid("limits.bandwidthMbps", "must be 1 to", b -> b.limits(bandwidth(0))),
        invalid("limits.bandwidthMbps", "1048576", b -> b.limits(bandwidth((1 << 20) + 1))),
        invalid(
            "limits.timeout",
            "must be more than 0",
            b -> b.limits(LIMITS.withTimeout(Duration.ZERO))),
        invalid("network.exposePorts", "must be 1 to 65535: 0", b -> b.network(ports(0))),
        invalid("network.exposePorts", "must be 1 to 65535: 65536", b -> b.network(ports(65_536))),
        invalid(
            "network.allowDomains",
            "is not a domain: 'https://x'",
            b -> b.network(allow("https://x"))),
        invalid("network.allowDomains", "is not a domain: ''", b -> b.network(allow(""))),
        invalid("network.allowDomains", "is not a domain: '*'", b -> b.network(allow("*"))),
        invalid("network.allowDomains", "is not a domain: 'a.*.b'", b -> b.network(allow("a.*.b"))),
        invalid("network.allowDomains", "is not a domain: '-a.b'", b -> b.network(allow("-a.b"))),
        invalid(
            "network.allowDomains",
            "is not a domain",
            b -> b.network(allow("x".repeat(64) + ".org"))),
        invalid(
            "network.allowDomains",
            "is not a domain",
            b -> b.network(allow("a.".repeat(127) + "b"))),
        invalid("network.allowDomains", "is not a domain: '1.2.3'", b -> b.network(allow("1.2.3"))),
        invalid(
            "network.blockDomains",
            "is not a domain: 'a b'",
            b -> b.network(block(NetworkMode.BRIDGE, "a b"))),
        invalid(
            "network.allowDomains",
            "must be empty in network mode none",
            b ->
                b.network(
                    new Network(
                        Optional.of(NetworkMode.NONE), List.of("x.org"), List.of(), List.of()))));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("invalid")
  void isRefused(String field, String problem, Consumer<SandboxSpec.Builder> change) {
    SandboxSpec.Builder builder = SandboxSpec.builder(ID);
    change.accept(builder);

    assertThat(SpecValidation.violations(builder.buildUnchecked()))
        .anySatisfy(
            violation -> {
              assertThat(violation.field()).isEqualTo(field);
              assertThat(violation.problem()).contains(problem);
            });
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(builder::build)
        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_SPEC))
        .satisfies(e -> assertThat(e.context()).containsKey(field))
        .withMessageContaining(field)
        .withMessageContaining(problem);
  }

  @Test
  void allViolationsAreReportedAtOnce() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(
            () ->
                SandboxSpec.builder(ID)
                    .image("")
                    .env("1", "x")
                    .cwd("x")
                    .gpus(-1)
                    .limits(LIMITS.withCpu(0).withMemoryMb(0))
                    .network(ports(0))
                    .build())
        .withMessageContainingAll(
            "image", "env", "cwd", "gpus", "limits.cpu", "limits.memoryMb", "network.exposePorts")
        .withMessageEndingWith("correct these 7 fields");
  }

  @Test
  void twoProblemsOfOneFieldAreBothInTheContext() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> SandboxSpec.builder(ID).cwd("a/..").build())
        .satisfies(
            e ->
                assertThat(e.context().get("cwd"))
                    .contains("must be an absolute path")
                    .contains("contains '..'"));
  }

  @Test
  void validSpecDoesNotThrow() {
    assertThatCode(() -> SpecValidation.throwIfInvalid(List.of())).doesNotThrowAnyException();
  }

  @Test
  void hostPathsAreCheckedSeparately(@TempDir Path folder) throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    SandboxSpec.Builder there =
        SandboxSpec.builder(ID)
            .workspacePath(folder)
            .volume(VolumeMount.bind(file.toString(), "/d", false))
            .volume(volume(VolumeMount.Type.VOLUME, "named", "/v"));
    SandboxSpec.Builder missing =
        SandboxSpec.builder(ID)
            .workspacePath(file)
            .volume(VolumeMount.bind(folder.resolve("no").toString(), "/d", false));

    assertThat(SpecValidation.hostViolations(there.build())).isEmpty();
    assertThat(SpecValidation.hostViolations(missing.build()))
        .extracting(Violation::field)
        .containsExactly("workspacePath", "volumes");
  }

  @Test
  void defaultsAreThoseOfTheRequirements() {
    SandboxSpec spec = SandboxSpec.builder(ID).build();

    assertThat(spec.workspaceMount()).isEqualTo("/workspace");
    assertThat(spec.workingFolder()).isEqualTo("/workspace");
    assertThat(spec.limits())
        .isEqualTo(new ResourceLimits(1, 1024, 10_240, 1024, 100, 100, Optional.empty()));
    assertThat(spec.network()).isEqualTo(Network.DEFAULT);
    assertThat(SandboxSpec.builder(ID).cwd("/src").build().workingFolder()).isEqualTo("/src");
  }

  @Test
  void aSpecDoesNotChangeWithItsBuilder() {
    SandboxSpec.Builder builder = SandboxSpec.builder(ID).env("A", "1");
    SandboxSpec spec = builder.build();
    builder.env("B", "2").seedFile("f", Bytes.utf8(""));

    assertThat(spec.env()).containsOnlyKeys("A");
    assertThat(spec.seedFiles()).isEmpty();
  }

  private static VolumeMount volume(VolumeMount.Type type, String source, String destination) {
    return new VolumeMount(type, source, destination, false);
  }

  private static ResourceLimits bandwidth(int mbps) {
    return new ResourceLimits(1, 1024, 10_240, 1024, 100, mbps, Optional.empty());
  }

  private static Network ports(int port) {
    return new Network(Optional.empty(), List.of(), List.of(), List.of(port));
  }

  private static Network allow(String... domains) {
    return new Network(Optional.empty(), List.of(domains), List.of(), List.of());
  }

  private static Network block(NetworkMode mode, String... domains) {
    return new Network(Optional.of(mode), List.of(), List.of(domains), List.of());
  }
}
