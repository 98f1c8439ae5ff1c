package dev.isola.provider.docker;

import dev.isola.link.AgentConnector;
import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.InstalledProgram;
import dev.isola.link.LinkOptions;
import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.Turns;
import dev.isola.provider.docker.http.Deadline;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.spi.Destroy;
import dev.isola.spi.Health;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderInfo;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Sighting;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.spec.Require;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sandboxes that are containers of an engine. The engine is the only truth: what there is and what
 * state it is in is asked of it, by labels that every container bears, so any process of this
 * instance finds, reaches and removes them all. Beside it there is only a folder with the agent's
 * socket.
 */
final class DockerProvider implements Provider {
  /** Cleaning up may take this long after whatever went wrong, which may have used up all time. */
  private static final Duration CLEAN_UP = Duration.ofSeconds(20);

  /** A socket takes none. */
  private static final int SOCKET_SPACE = 64 * 1024;

  private static final long LOOK_AGAIN = Duration.ofMillis(20).toNanos();

  private final Flavour flavour;
  private final Settings settings;
  private final ProviderContext context;
  private final Engine engine;
  private final EngineState state;
  private final Images images;
  private final Keys keys;
  private final InstalledProgram agent;
  private final GuestFolder guest;
  private final SpecCheck check;
  private final Description description;
  private final Verification verification;
  private final Turns turns = new Turns();
  private final Map<SandboxId, AgentSandbox> attached = new ConcurrentHashMap<>();
  private final EnginePausing pausing;
  private final EngineEvents events;
  private final boolean sockets;
  private volatile @Nullable ProviderInfo info;

  DockerProvider(Flavour flavour, Settings settings, ProviderContext context) {
    this.flavour = flavour;
    this.settings = settings;
    this.context = context;
    this.engine = new Engine(new EngineHttp(settings.address()));
    this.state = new EngineState(engine);
    this.images = new Images(engine, settings, List.of(context.shared(), context.dataFolder()));
    this.keys = new Keys(context.dataFolder(), context.instance());
    this.agent = InstalledProgram.agent(context.dataFolder().resolve("bin"));
    this.guest = new GuestFolder(context.dataFolder(), agent);
    this.check =
        new SpecCheck(
            flavour.name(),
            settings.address().local(),
            settings.bridge().isPresent(),
            flavour.ownKernel());
    this.description = new Description(flavour, settings, check);
    this.verification = new Verification(flavour, engine);
    this.sockets = settings.hostSockets() && !flavour.ownKernel();
    this.pausing = new EnginePausing(this, engine, turns);
    this.events = new EngineEvents(engine, context.instance(), this::ended, this::lookAround);
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo known = info;
    if (known != null) {
      return known;
    }
    try {
      Facts facts = state.facts();
      known = description.of(facts);
      info = known;
      return known;
    } catch (SandboxException e) { // not kept: the engine may come
      return description.without(e.fault());
    }
  }

  @Override
  public Health health() {
    Path data = context.dataFolder();
    if (!Files.isDirectory(data) || !Files.isWritable(data)) {
      return new Health.Unhealthy(
          "the data folder " + data + " cannot be written",
          "make it writable, or choose another with --data");
    }
    try {
      agent.path();
      return new EngineCheck(flavour, settings).health(state.now());
    } catch (SandboxException e) {
      return new Health.Unhealthy(e.fault().what(), e.fault().remedy());
    }
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    check.refuse(spec);
    if (!spec.limits().required().isEmpty() || !spec.require().equals(Require.NOTHING)) {
      info().refuseUnmet(spec);
    }
    return turns.take(spec.id(), () -> createInTurn(spec));
  }

  private Sandbox createInTurn(SandboxSpec spec) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    Optional<Container> there = find(spec.id());
    Optional<Sandbox> existing = there.flatMap(this::attachTo);
    if (existing.isPresent()) {
      return existing.get();
    }
    if (there.isPresent() || folder(spec.id()).exists()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "there are remains of a sandbox " + spec.id(),
              "destroy it first, or use another id")
          .sandbox(spec.id())
          .exception();
    }
    Facts facts = state.now();
    Optional<String> runtime = new EngineCheck(flavour, settings).runtime(facts);
    removeWhatShortLivedOwnersLeft();
    ImageChoice image = images.choose(spec.image(), deadline);
    byte[] boot =
        Boot.record(context.instance(), flavour, facts, spec, image, keys.agent(spec.id()))
            .encode();
    ContainerPlan plan =
        new ContainerPlan(
            context.instance(),
            flavour,
            spec,
            facts,
            settings,
            image,
            runtime,
            mounts(spec.id()),
            List.of("--report", "--own-events"),
            keys.seal(spec.id(), boot));
    String container = container(plan, deadline);
    try {
      return start(plan, container, boot, deadline);
    } catch (IOException e) {
      SandboxException failure = unmakeable(spec.id(), e);
      cleanUp(spec.id(), failure);
      throw failure;
    } catch (SandboxException e) {
      cleanUp(spec.id(), e);
      throw e instanceof OutcomeUnknown ? known(spec, e, deadline) : e;
    } catch (RuntimeException e) {
      cleanUp(spec.id(), e);
      throw e;
    }
  }

  /** Makes the folder and the container, or neither. */
  private String container(ContainerPlan plan, Deadline deadline) {
    SandboxSpec spec = plan.spec();
    SocketFolder folder = folder(spec.id());
    try {
      if (sockets) {
        folder.claim(spec.id());
      }
    } catch (IOException e) {
      throw unmakeable(spec.id(), e);
    }
    try {
      if (sockets) {
        folder.open();
      }
      return engine.create(nameOf(spec.id()), plan.body(), deadline);
    } catch (Conflict somebodyElses) {
      removeFolder(spec.id());
      throw somebodyElses;
    } catch (IOException e) {
      SandboxException failure = unmakeable(spec.id(), e);
      cleanUp(spec.id(), failure);
      throw failure;
    } catch (SandboxException e) {
      cleanUp(spec.id(), e);
      throw e instanceof OutcomeUnknown ? known(spec, e, deadline) : e;
    }
  }

  private List<Map<String, Object>> mounts(SandboxId id) {
    List<Map<String, Object>> mounts = new ArrayList<>();
    if (settings.address().local()) {
      mounts.add(Mounts.bind(guest.path().toString(), ContainerPlan.GUEST, true));
    }
    mounts.add(
        sockets
            ? Mounts.bind(folder(id).shared().toString(), ContainerPlan.RUN, false)
            : Mounts.tmpfs(ContainerPlan.RUN, SOCKET_SPACE));
    return mounts;
  }

  private Sandbox start(ContainerPlan plan, String container, byte[] boot, Deadline deadline)
      throws IOException {
    SandboxSpec spec = plan.spec();
    if (!settings.address().local()) {
      TarArchive archive = new TarArchive();
      archive.folder(ContainerPlan.GUEST.substring(1), 0755, 0);
      archive.program(ContainerPlan.AGENT.substring(1), Files.readAllBytes(agent.path()));
      engine.put(container, archive.end(), deadline);
    }
    boot(container, spec.id(), boot, deadline);
    AgentSandbox sandbox = sandbox(spec.id(), container, spec.limits().timeout());
    attached.put(spec.id(), sandbox);
    events.follow();
    sandbox.connect();
    verification.verify(container, sandbox, plan.runtime(), plan.facts());
    FirstSteps.take(sandbox, spec, deadline);
    return sandbox;
  }

  /** Makes sure once more that it is what it was made as; the engine may be another by now. */
  void verifyAgain(Container container, AgentSandbox sandbox) {
    Facts facts = state.now();
    verification.verify(
        container.id(), sandbox, new EngineCheck(flavour, settings).runtime(facts), facts);
  }

  /** Starts it again, with what it bears itself. */
  void bootAgain(Container container, SandboxId id, Deadline deadline) throws IOException {
    byte[] boot = keys.open(id, container.labels().getOrDefault(Labels.BOOT, ""));
    if (sockets) {
      folder(id).open();
    }
    boot(container.id(), id, BootRecord.again(boot, container.createdAt()), deadline);
  }

  private void boot(String container, SandboxId id, byte[] record, Deadline deadline)
      throws IOException {
    Boot.start(engine, container, id, record, deadline);
    if (sockets) {
      folder(id).close();
    }
  }

  /** Everything was removed, so it is known after all. */
  private static SandboxException known(SandboxSpec spec, SandboxException e, Deadline deadline) {
    return Fault.of(
            deadline.over() ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.PROVIDER_UNAVAILABLE,
            e.fault().what(),
            e.fault().remedy())
        .sandbox(spec.id())
        .exception(e);
  }

  private SandboxException unmakeable(SandboxId id, IOException e) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "the sandbox's folder cannot be made: " + e.getMessage(),
            "check space and rights of " + context.dataFolder())
        .sandbox(id)
        .exception(e);
  }

  private SocketFolder folder(SandboxId id) {
    return SocketFolder.of(context.dataFolder(), context.instance(), id);
  }

  /** Returns the container of a sandbox, of this instance. */
  Optional<Container> find(SandboxId id) {
    Map<String, String> labels = new LinkedHashMap<>(ours());
    labels.put(Labels.SANDBOX, id.value());
    return engine.list(labels).stream().findFirst();
  }

  /** One engine may serve two providers of the same instance: Docker's and gVisor's. */
  private Map<String, String> ours() {
    return Map.of(Labels.INSTANCE, context.instance().value(), Labels.PROVIDER, flavour.name());
  }

  String nameOf(SandboxId id) {
    return Labels.name(context.instance(), id);
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return turns.take(id, () -> find(id).flatMap(this::attachTo));
  }

  private Optional<Sandbox> attachTo(Container container) {
    SandboxId id = container.sandbox().orElseThrow();
    SandboxState now = container.state();
    if (now == SandboxState.ERROR || now == SandboxState.TERMINATING) {
      forget(id, "its container is " + container.status());
      return Optional.empty();
    }
    AgentSandbox before = attached.get(id);
    if (before != null && before.state() != SandboxState.DESTROYED) {
      return Optional.of(before);
    }
    AgentSandbox sandbox = sandbox(id, container.id(), Labels.timeout(container.labels()));
    sandbox.mark(now);
    try {
      if (now == SandboxState.RUNNING) {
        sandbox.ping();
      }
    } catch (Gone e) {
      sandbox.close();
      return Optional.empty();
    }
    attached.put(id, sandbox);
    events.follow();
    return Optional.of(sandbox);
  }

  /** Somebody ended it, behind our back or not; one that was stopped on purpose bears the mark. */
  private void ended(SandboxId id, String name, String why) {
    AgentSandbox sandbox = attached.get(id);
    boolean stopped = name.endsWith(Labels.STOPPED) && !why.contains("removed");
    if (sandbox != null && !stopped) {
      attached.remove(id, sandbox);
      sandbox.markDestroyed(why);
      sandbox.close();
    }
  }

  /** The engine was away, and what happened meanwhile was not heard. */
  private void lookAround() {
    Map<SandboxId, Container> there = new HashMap<>();
    for (Container container : engine.list(ours())) {
      container.sandbox().ifPresent(id -> there.put(id, container));
    }
    for (SandboxId id : List.copyOf(attached.keySet())) {
      Container container = there.get(id);
      if (container == null || container.state() == SandboxState.ERROR) {
        // One that is being made this moment is left to who makes it.
        turns.takeIfFree(
            id, () -> ended(id, nameOf(id), "its container ended while the engine was away"));
      }
    }
  }

  private void forget(SandboxId id, String why) {
    AgentSandbox before = attached.remove(id);
    if (before != null) {
      before.markDestroyed(why);
      before.close();
    }
  }

  private AgentSandbox sandbox(SandboxId id, String container, Optional<Duration> timeout) {
    return AgentSandbox.builder(id, connector(id, container), keys.agent(id))
        .capabilities(description.capabilities())
        .extra(Map.of(Pausing.class, pausing.of(id)))
        .usage(inside -> new EngineUsage(engine, container, inside))
        .causeOfDeath(() -> causeOfDeath(container))
        .commandTimeout(timeout)
        .options(LinkOptions.DEFAULT)
        .build();
  }

  private AgentConnector connector(SandboxId id, String container) {
    return sockets
        ? new UnixSocketConnector(folder(id).socket())
        : new ExecConnector(engine, container);
  }

  /** The engine says so also of one in which only a command was killed; then it still runs. */
  private Optional<Exit> causeOfDeath(String container) {
    try {
      return engine
          .inspect(container)
          .map(node -> node.path("State"))
          .filter(end -> !Json.flag(end, "Running") && Json.flag(end, "OOMKilled"))
          .filter(end -> Json.number(end, "ExitCode") == 137)
          .map(end -> new Exit.OutOfMemory());
    } catch (SandboxException nobodyToAsk) {
      return Optional.empty();
    }
  }

  AgentSandbox need(SandboxId id) {
    AgentSandbox sandbox = attached.get(id);
    if (sandbox == null || sandbox.state() == SandboxState.DESTROYED) {
      throw gone(id);
    }
    return sandbox;
  }

  static SandboxException gone(SandboxId id) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED, "sandbox " + id + " is gone", "create a new sandbox")
        .sandbox(id)
        .exception();
  }

  @Override
  public List<Sighting> inventory() {
    List<Sighting> found = new ArrayList<>();
    Set<SandboxId> seen = new HashSet<>();
    for (Container container : engine.list(ours())) {
      if (container.sandbox().isPresent()) {
        SandboxId id = container.sandbox().get();
        Map<String, String> details = new LinkedHashMap<>();
        details.put("container", container.id());
        details.put("name", container.name());
        details.put("engine", settings.address().toString());
        found.add(new Sighting(id, container.state(), container.createdAt(), details));
        seen.add(id);
      }
    }
    folders().stream()
        .filter(id -> !seen.contains(id))
        .forEach(
            id ->
                found.add(
                    new Sighting(
                        id,
                        SandboxState.ERROR,
                        modified(folder(id).path()),
                        Map.of("folder", folder(id).path().toString()))));
    return found;
  }

  private List<SandboxId> folders() {
    try {
      return SocketFolder.found(context.dataFolder(), context.instance());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the folders of sandboxes cannot be listed: " + e.getMessage(),
              "see who may read " + context.dataFolder())
          .exception(e);
    }
  }

  private Instant modified(Path folder) {
    try {
      return Files.getLastModifiedTime(folder).toInstant();
    } catch (IOException gone) {
      return context.clock().instant();
    }
  }

  @Override
  public void destroy(SandboxId id, Destroy how) {
    Supplier<SandboxId> action =
        () -> {
          destroyInTurn(id, Deadline.in(how.timeout()));
          return id;
        };
    turns.take(id, action);
  }

  private void destroyInTurn(SandboxId id, Deadline deadline) {
    for (Optional<Container> left = find(id); left.isPresent(); left = find(id)) {
      if (!engine.remove(left.get().id(), deadline)) {
        LockSupport.parkNanos(LOOK_AGAIN);
      }
      if (deadline.over() && find(id).isPresent()) {
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "the engine has not removed sandbox " + id + " within " + deadline.whole(),
                "destroy it again")
            .sandbox(id)
            .exception();
      }
    }
    forget(id, "it was destroyed");
    removeFolder(id);
  }

  private void removeFolder(SandboxId id) {
    SocketFolder folder = folder(id);
    if (folder.exists()) {
      try {
        folder.remove();
      } catch (IOException e) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the folder of sandbox " + id + " cannot be removed: " + e.getMessage(),
                "remove what holds it and destroy again")
            .sandbox(id)
            .exception(e);
      }
    }
  }

  private void cleanUp(SandboxId id, Exception because) {
    boolean interrupted = Thread.interrupted(); // what was begun is undone all the same
    try {
      destroyInTurn(id, Deadline.in(CLEAN_UP));
    } catch (SandboxException e) {
      because.addSuppressed(e);
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "making sandbox "
                  + id
                  + " failed ("
                  + because.getMessage()
                  + "), and what is left could not be removed: "
                  + e.fault().what(),
              "destroy it when the engine answers again")
          .sandbox(id)
          .exception(because);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** What an owner left behind that never comes back: it was killed before it could destroy it. */
  private void removeWhatShortLivedOwnersLeft() {
    Map<String, String> labels = new LinkedHashMap<>(ours());
    labels.put(Labels.SHORT_LIVED, "true");
    for (Container container : engine.list(labels)) {
      if (container.status().equals("exited") && container.sandbox().isPresent()) {
        SandboxId id = container.sandbox().get();
        // One that is being destroyed this moment looks the same; it is left to who does it.
        turns.takeIfFree(id, () -> destroyInTurn(id, Deadline.in(CLEAN_UP)));
      }
    }
  }

  @Override
  public void close() {
    events.close();
    attached.values().forEach(AgentSandbox::close);
    attached.clear();
    engine.close();
  }
}
