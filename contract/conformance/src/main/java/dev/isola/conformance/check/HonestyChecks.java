package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.TerminalSize;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** Checks that a provider does what it declares and rejects everything else. */
public final class HonestyChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Expects a rejection that names {@code feature} and leaves no sandbox behind. */
  private static void refused(
      CheckContext check, String feature, UnaryOperator<SandboxSpec.Builder> asking) {
    SandboxSpec spec = asking.apply(check.spec()).build();
    SandboxException e =
        Expect.thrown(
            "a spec with " + feature, () -> check.provider().create(spec), Unsupported.class);
    Expect.equal(ErrorCode.NOT_IMPLEMENTED, e.code(), "the code of the rejection of " + feature);
    String message = (e.getMessage() + " " + e.context()).toLowerCase(Locale.ROOT);
    Expect.contains(message, feature, "the rejection");
    Expect.that(
        check.provider().inventory().stream().noneMatch(found -> found.id().equals(spec.id())),
        "nothing is left of a sandbox that was refused for " + feature);
  }

  /** Expects an undeclared feature to be reported as missing for a request that requires it. */
  private static void missing(CheckContext check, String what, Requirements requirements) {
    Expect.equal(
        List.of(what),
        check.info().missing(check.spec().build(), requirements),
        "what is missing for a request that requires " + what);
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  @Check("P8")
  public void exactlyTheDeclaredCapabilitiesAreImplemented(CheckContext check) {
    for (Class<? extends Capability> capability : Capability.all()) {
      Expect.equal(
          check.info().capabilities().contains(capability),
          capability == Volumes.class
              ? check.provider().volumes().isPresent()
              : check.sandbox().as(capability).isPresent(),
          "whether the sandbox (of volumes: the provider) gives "
              + Capability.idOf(capability)
              + ", as declared,");
      if (!check.info().capabilities().contains(capability)) {
        missing(check, Capability.idOf(capability), Requirements.capabilities(capability));
      }
    }
    Requirements all =
        new Requirements(check.info().isolation(), check.info().capabilities(), Set.of());
    Expect.equal(
        List.of(),
        check.info().missing(check.spec().build(), all),
        "what is missing of what is declared");
    for (Isolation stronger : Isolation.values()) {
      if (!check.info().isolation().isAtLeast(stronger)) {
        missing(check, "isolation " + lower(stronger), Requirements.isolation(stronger));
      }
    }
  }

  @Check("P8")
  public void freeResourcesDoNotExceedTotals(CheckContext check) {
    Optional<HostResources> reported = check.provider().resources();
    if (reported.isEmpty()) {
      throw check.notRun("the provider does not report the resources of its machine");
    }
    HostResources machine = reported.get();
    Expect.that(
        machine.freeMemoryMb().orElse(0) <= machine.memoryMb(), "the memory adds up: " + machine);
    Expect.that(
        machine.freeDiskMb().orElse(0) <= machine.diskMb().orElse(Long.MAX_VALUE),
        "the disk adds up: " + machine);
  }

  @Check("P8")
  public void theDescriptionIsComplete(CheckContext check) {
    ProviderInfo info = check.info();
    Expect.equal(check.underTest().name(), info.name(), "the name");
    Expect.that(info.name().matches("[a-z0-9-]+"), "the name is valid: " + info.name());
    Expect.equal(ApiVersion.CURRENT, info.apiVersion(), "the api version");
    Expect.that(!info.summary().isBlank(), "there is a summary");
    Expect.that(!info.cleanup().isBlank(), "the cleanup description is not empty");
    Expect.that(info.startup().isPositive(), "the startup estimate is positive");
    Expect.equal(info, check.provider().info(), "the description on the second call");
  }

  @Check("P8")
  public void prerequisitesOfAHealthyProviderArePresent(CheckContext check) {
    for (Prerequisite requirement : check.info().prerequisites()) {
      Expect.that(
          requirement.present() || !requirement.necessary(),
          "the provider is healthy, so what it needs is there: " + requirement);
      Expect.that(
          requirement.present() || !requirement.fix().isBlank(),
          "what is missing has a fix: " + requirement);
      Expect.that(!requirement.detail().isBlank(), "the detail is not empty: " + requirement);
    }
  }

  @Check("P8")
  public void startupEstimateIsRealistic(CheckContext check) {
    check.sandbox();
    long start = System.nanoTime();
    check.create(spec -> spec);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    Duration most = check.info().startup().multipliedBy(20).plusSeconds(2);
    Expect.that(
        took.compareTo(most) <= 0,
        "create takes about " + check.info().startup().toMillis() + " ms, not " + took.toMillis());
  }

  @Check("P12")
  public void undeclaredImagesAreRejected(CheckContext check) {
    if (check.info().support().has(SpecFeature.IMAGES)) {
      throw check.notRun("the provider declares images");
    }
    refused(check, "image", spec -> spec.image("example.invalid/none:1"));
  }

  @Check("P12")
  public void undeclaredUsersAreRejected(CheckContext check) {
    if (check.info().support().has(SpecFeature.USERS)) {
      throw check.notRun("the provider declares users");
    }
    refused(check, "user", spec -> spec.user("12345"));
  }

  @Check("P12")
  public void undeclaredNetworkModesAreRefused(CheckContext check) {
    Set<NetworkMode> declared = check.info().support().networkModes();
    if (declared.size() == NetworkMode.values().length) {
      throw check.notRun("the provider declares all network modes");
    }
    for (NetworkMode mode : NetworkMode.values()) {
      if (!declared.contains(mode)) {
        refused(check, lower(mode), spec -> spec.network(Network.of(mode)));
      }
    }
  }

  @Check("S3")
  public void declaredNetworkModesAreSupported(CheckContext check) {
    for (NetworkMode mode : check.info().support().networkModes()) {
      Sandbox sandbox = check.create(spec -> spec.network(Network.of(mode)));
      Expect.equal(
          "works\n",
          sandbox.run(Command.shell("echo works")).stdout().text(),
          "a command with the network mode " + lower(mode));
    }
  }

  @Check("P12")
  public void undeclaredVolumesAreRefused(CheckContext check) {
    Set<VolumeMount.Type> declared = check.info().support().volumeTypes();
    if (declared.size() == VolumeMount.Type.values().length) {
      throw check.notRun("the provider declares all types of volumes");
    }
    try (HostSecret host = new HostSecret()) {
      for (VolumeMount.Type type : VolumeMount.Type.values()) {
        if (!declared.contains(type)) {
          refused(check, lower(type), spec -> spec.volume(volume(type, host)));
        }
      }
    }
  }

  private static VolumeMount volume(VolumeMount.Type type, HostSecret host) {
    String source =
        switch (type) {
          case BIND -> host.folder();
          case VOLUME -> "isola-check-" + UUID.randomUUID();
          case TMPFS -> "";
        };
    return new VolumeMount(type, source, "/workspace/mounted", type == VolumeMount.Type.BIND);
  }

  @Check("S1")
  public void bindVolumesShowTheHostsFolder(CheckContext check) {
    if (!check.info().support().volumeTypes().contains(VolumeMount.Type.BIND)) {
      throw check.notRun("the provider does not declare volumes of type bind");
    }
    try (HostSecret host = new HostSecret()) {
      Sandbox sandbox = check.create(spec -> spec.volume(volume(VolumeMount.Type.BIND, host)));
      Expect.equal(
          host.content(),
          sandbox.run(Command.shell("cat mounted/secret")).stdout().text(),
          "what a command reads from the volume");
      Expect.that(
          !sandbox.run(Command.shell("echo x > mounted/new")).succeeded(),
          "a read-only volume cannot be written");
      host.assertUnchanged("a write to a read-only volume");
    }
  }

  @Check("P12")
  public void unsupportedGpusAreRejected(CheckContext check) {
    refused(check, "gpu", spec -> spec.gpus(64));
  }

  @Check("P8")
  public void theClaimedIsolationHidesTheHostsFiles(CheckContext check) {
    claimsMoreThanAProcess(check);
    try (HostSecret secret = new HostSecret()) {
      String read =
          check.run("cat " + secret.file() + "; cat " + secret.climbing(12)).stdout().text();
      secret.assertNotIn(read, "by a command in a sandbox that claims " + check.info().isolation());
      check.run("echo spoiled > " + secret.file() + "; rm " + secret.file());
      secret.assertUnchanged("commands in a sandbox that claims " + check.info().isolation());
    }
  }

  @Check("P8")
  public void theClaimedIsolationHidesTheHostsProcesses(CheckContext check) throws IOException {
    claimsMoreThanAProcess(check);
    String mark = "isola-mark-" + UUID.randomUUID();
    Process host = new ProcessBuilder("sh", "-c", "read line # " + mark).start();
    try {
      String seen = check.run("cat /proc/[0-9]*/cmdline").stdout().text();
      Expect.that(!seen.contains(mark), "a process of the host is not seen in the sandbox");
      check.run("kill -9 " + host.pid());
      Expect.that(host.isAlive(), "a process of the host cannot be killed from the sandbox");
    } finally {
      host.destroyForcibly();
    }
  }

  private static void claimsMoreThanAProcess(CheckContext check) {
    if (check.info().isolation() == Isolation.PROCESS) {
      throw check.notRun("the provider declares isolation process");
    }
  }

  @Check(value = "P8", needs = Attaching.class)
  public void attachingFindsRunningCommands(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.shell("sleep 1000"))) {
      Expect.that(
          check.as(Attaching.class).executions().stream()
              .anyMatch(info -> info.id().equals(execution.id()) && info.running()),
          "the list has the running execution");
      execution.kill();
    }
  }

  @Check(value = "P8", needs = Terminals.class)
  public void terminalsOpen(CheckContext check) {
    TerminalSize size = new TerminalSize(80, 24);
    try (BackgroundReader screen =
        new BackgroundReader(
            check.as(Terminals.class).open(Command.shell("test -t 0 && echo tty"), size))) {
      screen.awaitText("tty");
    }
  }

  @Check(value = "P8", needs = Watching.class)
  public void watchingReportsAChange(CheckContext check) {
    try (Watch watch = check.as(Watching.class).watch(".", false)) {
      check.sandbox().files().writeText("file", "x", UTF_8);
      FileChange change =
          watch.next(TIMEOUT).orElseThrow(() -> new CheckFailed("the watch told of no change"));
      Expect.that(change.kind() != FileChange.Kind.ROOT_GONE, "the event is a change: " + change);
    }
  }

  @Check(value = "P8", needs = PortDialing.class)
  public void dialingAClosedPortIsPortNotOpen(CheckContext check) {
    Expect.thrown(
        "dialling a port where nothing listens",
        () -> check.as(PortDialing.class).dial(1),
        ErrorCode.PORT_NOT_OPEN);
  }

  @Check(value = "P8", needs = PortDialing.class, tools = "python3")
  public void dialingReachesAServer(CheckContext check) throws IOException {
    String server =
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
            + " print(s.getsockname()[1], flush=True); c = s.accept()[0];"
            + " c.sendall(c.recv(100).upper()); c.close()";
    try (BackgroundReader screen =
        new BackgroundReader(check.sandbox().start(Command.argv("python3", "-c", server)))) {
      screen.awaitText("\n");
      int port = Integer.parseInt(screen.text().strip());
      try (PortDialing.Connection connection = check.as(PortDialing.class).dial(port)) {
        connection.write(ByteBuffer.wrap("hello".getBytes(UTF_8)));
        ByteBuffer answer = ByteBuffer.allocate(100);
        int count = 0;
        while (count >= 0 && answer.hasRemaining()) {
          count = connection.read(answer);
        }
        Expect.equal("HELLO", new String(answer.array(), 0, answer.position(), UTF_8), "it says");
      }
    }
  }

  @Check(value = "S5", needs = UsageReporting.class)
  public void usageIsMeasured(CheckContext check) {
    UsageReporting reporting = check.as(UsageReporting.class);
    UsageReporting.Usage before = reporting.usage();
    check.output("head -c 300000000 /dev/zero | wc -c");
    check.sandbox().files().writeText("file", "x".repeat(2_000_000), UTF_8);
    try (Execution running = check.sandbox().start(Command.shell("sleep 1000"))) {
      UsageReporting.Usage after = reporting.usage();
      Expect.that(after.cpuTime().compareTo(before.cpuTime()) > 0, "CPU time increases: " + after);
      Expect.that(after.uptime().compareTo(before.uptime()) >= 0, "uptime increases: " + after);
      Expect.that(after.memoryBytes() > 0, "memory is used: " + after);
      Expect.that(
          after.memoryPeakBytes() >= after.memoryBytes(),
          "the peak is at least the current use: " + after);
      Expect.that(after.processes() > before.processes(), "the process count increases: " + after);
      long disk = after.diskBytes().orElse(2_000_000);
      Expect.that(disk >= 2_000_000, "what was written is counted: " + after);
      running.kill();
    }
  }

  @Check(value = "P6", needs = Pausing.class)
  public void pauseKeepsWhatItsKindDeclares(CheckContext check) {
    Pausing pausing = check.as(Pausing.class);
    Expect.that(
        !pausing.kinds().isEmpty(), "a provider that declares pausing has at least one kind");
    for (PauseKind kind : pausing.kinds()) {
      check.sandbox().files().writeText("kept", lower(kind), UTF_8);
      Execution execution = check.sandbox().start(Command.shell("sleep 1000"));
      pausing.pause(kind);
      pausing.pause(kind);
      SandboxState state = check.sandbox().state();
      Expect.equal(
          kind == PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED, state, "state");
      pausing.resume();
      pausing.resume();
      Expect.equal(SandboxState.RUNNING, check.sandbox().state(), "the state after resume");
      Expect.equal(lower(kind), check.output("cat kept"), "the file after a pause");
      if (kind == PauseKind.MEMORY) {
        Expect.that(
            execution.await(Duration.ofMillis(200)).isEmpty(),
            "the process keeps running after it");
        execution.kill();
      }
      execution.close();
    }
  }

  @Check(value = "P8", needs = Renewing.class)
  public void aRenewedDeadlineIsKept(CheckContext check) {
    Sandbox brief = check.create(spec -> spec.deadline(Duration.ofSeconds(2)));
    brief.as(Renewing.class).orElseThrow().renew(Duration.ofMinutes(5));
    Renewing renewing = check.as(Renewing.class);
    renewing.renew(Duration.ofMillis(2_500));
    Expect.eventually(
        TIMEOUT,
        "a sandbox ends by itself at its new deadline",
        () -> check.provider().attach(check.sandbox().id()).isEmpty());
    Expect.gone("a command after the deadline", () -> check.run("echo late"));
    Expect.equal(
        "alive\n",
        brief.run(Command.shell("echo alive")).stdout().text(),
        "a command in the sandbox that was renewed");
  }

  private static void needs(CheckContext check, VolumeMount.Type type) {
    if (!check.info().support().volumeTypes().contains(type)) {
      throw check.notRun("the provider does not declare volumes of type " + lower(type));
    }
  }

  @Check("S1")
  public void boundFoldersAreTheHosts(CheckContext check) throws IOException {
    needs(check, VolumeMount.Type.BIND);
    Path host = Files.createTempDirectory("isola-bind");
    try {
      Files.writeString(host.resolve("from-host"), "hello");
      Sandbox sandbox =
          check.create(
              spec -> spec.volume(VolumeMount.bind(host.toString(), "/workspace/shared", false)));
      Expect.equal(
          "hello",
          sandbox.run(Command.shell("cat shared/from-host")).stdout().text(),
          "a file of the host's");
      ExecResult writing = sandbox.run(Command.shell("echo there > shared/from-inside"));
      Expect.that(writing.succeeded(), "a bound folder can be written to: " + writing);
      Expect.equal(
          "there\n", Files.readString(host.resolve("from-inside")), "the file on the host");
    } finally {
      removeTree(host);
    }
  }

  @Check("S1")
  public void readOnlyBindMountsAreNotWritable(CheckContext check) throws IOException {
    needs(check, VolumeMount.Type.BIND);
    Path host = Files.createTempDirectory("isola-bind");
    try {
      Files.writeString(host.resolve("kept"), "hello");
      Sandbox sandbox =
          check.create(
              spec -> spec.volume(VolumeMount.bind(host.toString(), "/workspace/ro", true)));
      ExecResult writing =
          sandbox.run(Command.shell("cat ro/kept; echo x > ro/kept || echo y > ro/new"));
      Expect.equal("hello", writing.stdout().text(), "the content");
      Expect.that(!writing.succeeded(), "writing fails: " + writing);
      Expect.equal("hello", Files.readString(host.resolve("kept")), "the file on the host");
      Expect.that(Files.notExists(host.resolve("new")), "no new file exists on the host");
    } finally {
      removeTree(host);
    }
  }

  @Check("S1")
  public void namedVolumesOutliveTheirSandbox(CheckContext check) {
    needs(check, VolumeMount.Type.VOLUME);
    VolumeMount volume =
        new VolumeMount(
            VolumeMount.Type.VOLUME, "kit-" + check.spec().build().id(), "/workspace/data", false);
    Sandbox first = check.create(spec -> spec.volume(volume));
    Expect.that(first.run(Command.shell("echo kept > data/file")).succeeded(), "it is writable");
    check.provider().destroy(first.id(), DestroyOptions.NORMAL);
    Sandbox second = check.create(spec -> spec.volume(volume));
    Expect.equal(
        "kept\n", second.run(Command.shell("cat data/file")).stdout().text(), "the next one's");
    second.run(Command.shell("rm data/file"));
  }

  @Check("S1")
  public void temporaryVolumesAreEmptyAndWritable(CheckContext check) {
    needs(check, VolumeMount.Type.TMPFS);
    VolumeMount volume = new VolumeMount(VolumeMount.Type.TMPFS, "", "/workspace/scratch", false);
    Sandbox sandbox = check.create(spec -> spec.volume(volume));
    Expect.equal(
        "x\n",
        sandbox.run(Command.shell("ls scratch; echo x > scratch/f; cat scratch/f")).stdout().text(),
        "an empty folder that can be written to");
  }

  @Check("S3")
  public void aSandboxWithoutANetworkHasOnlyItsOwnLoopback(CheckContext check) {
    if (!check.info().support().networkModes().contains(NetworkMode.NONE)) {
      throw check.notRun("the provider does not declare the network mode none");
    }
    Sandbox sandbox = check.create(spec -> spec.network(Network.of(NetworkMode.NONE)));
    Expect.equal(List.of("lo"), interfaces(check, sandbox), "the interfaces");
  }

  @Check(value = "S3", tools = "bash")
  public void bridgeDoesNotReachTheHost(CheckContext check) throws IOException {
    if (!check.info().support().networkModes().contains(NetworkMode.BRIDGE)) {
      throw check.notRun("the provider does not declare the network mode bridge");
    }
    Sandbox sandbox = check.create(spec -> spec.network(Network.of(NetworkMode.BRIDGE)));
    Expect.that(interfaces(check, sandbox).size() > 1, "there is an interface besides loopback");
    if (HostAddresses.ofThisMachine().isEmpty()) {
      throw check.notRun("this machine has only loopback addresses");
    }
    try (ServerSocket server = new ServerSocket(0)) {
      for (InetAddress address : HostAddresses.ofThisMachine()) {
        InetSocketAddress host = new InetSocketAddress(address, server.getLocalPort());
        Expect.that(HostAddresses.answers(host), "the control: the host itself reaches " + host);
        ExecResult dialled =
            sandbox.run(
                Command.argv(
                        "bash",
                        "-c",
                        "exec 3<>/dev/tcp/" + address.getHostAddress() + "/" + host.getPort())
                    .withTimeout(Duration.ofSeconds(2)));
        Expect.that(!dialled.succeeded(), "a sandbox does not reach " + host);
      }
    }
  }

  private static List<String> interfaces(CheckContext check, Sandbox sandbox) {
    ExecResult interfaces =
        sandbox.run(
            Command.shell(
                "test -r /proc/net/dev && tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"));
    if (!interfaces.succeeded()) {
      throw check.notRun("the sandbox has no /proc/net/dev: " + interfaces.stderr().text());
    }
    return interfaces.stdout().text().lines().toList();
  }

  private static void removeTree(Path folder) throws IOException {
    try (var paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
