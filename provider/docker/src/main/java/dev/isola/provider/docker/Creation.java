package dev.isola.provider.docker;

import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.InstalledProgram;
import dev.isola.provider.docker.http.Deadline;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.FirstSteps;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Makes a sandbox, whole or not at all, and boots one again that was stopped. */
final class Creation {
  /** A socket takes none. */
  private static final int SOCKET_SPACE = 64 * 1024;

  private final Flavour flavour;
  private final Settings settings;
  private final Engine engine;
  private final EngineState state;
  private final Ours ours;
  private final Keys keys;
  private final Images images;
  private final InstalledProgram agent;
  private final GuestFolder guest;
  private final Links links;
  private final Removal removal;
  private final Verification verification;

  Creation(
      Flavour flavour,
      Settings settings,
      Engine engine,
      EngineState state,
      Ours ours,
      Keys keys,
      InstalledProgram agent,
      Links links,
      Removal removal) {
    this.flavour = flavour;
    this.settings = settings;
    this.engine = engine;
    this.state = state;
    this.ours = ours;
    this.keys = keys;
    this.links = links;
    this.removal = removal;
    this.images = Images.of(engine, settings, ours.context());
    this.agent = agent;
    this.guest = new GuestFolder(ours.context().dataFolder(), agent);
    this.verification = new Verification(flavour, engine);
  }

  /** Makes a sandbox, in its turn, or returns the one that is there. */
  Sandbox create(SandboxSpec spec) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    Optional<Container> there = ours.find(spec.id());
    Optional<Sandbox> existing = there.flatMap(links::attach);
    if (existing.isPresent()) {
      return existing.get();
    }
    if (there.isPresent() || ours.folder(spec.id()).exists()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "there are remains of a sandbox " + spec.id(),
              "destroy it first, or use another id")
          .sandbox(spec.id())
          .exception();
    }
    Facts facts = state.now();
    Optional<String> runtime = runtime(facts);
    removal.removeWhatShortLivedOwnersLeft();
    ImageChoice image = images.choose(spec.image(), deadline);
    byte[] boot =
        Boot.record(ours.context().instance(), flavour, facts, spec, image, keys.agent(spec.id()))
            .encode();
    ContainerPlan plan =
        new ContainerPlan(
            ours.context().instance(),
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
      throw undone(spec, deadline, unmakeable(spec.id(), e));
    } catch (RuntimeException e) {
      throw undone(spec, deadline, e);
    }
  }

  /** Returns the digest of the image that a sandbox would be made from now. */
  Optional<String> imageDigest(SandboxSpec spec) {
    return images.digest(spec.image());
  }

  private Optional<String> runtime(Facts facts) {
    return new EngineCheck(flavour, settings).runtime(facts);
  }

  /** Makes the folder and the container, or neither. */
  private String container(ContainerPlan plan, Deadline deadline) {
    SandboxSpec spec = plan.spec();
    SocketFolder folder = ours.folder(spec.id());
    if (hostSockets()) {
      try {
        folder.claim(spec.id());
      } catch (IOException e) {
        throw unmakeable(spec.id(), e);
      }
    }
    try {
      if (hostSockets()) {
        folder.open();
      }
      return engine.create(ours.name(spec.id()), plan.body(), deadline);
    } catch (Conflict somebodyElses) {
      removal.removeFolder(spec.id());
      throw somebodyElses;
    } catch (IOException e) {
      throw undone(spec, deadline, unmakeable(spec.id(), e));
    } catch (SandboxException e) {
      throw undone(spec, deadline, e);
    }
  }

  private boolean hostSockets() {
    return flavour.sockets(settings);
  }

  private List<Map<String, Object>> mounts(SandboxId id) {
    List<Map<String, Object>> mounts = new ArrayList<>();
    if (settings.address().local()) {
      mounts.add(Mounts.bind(guest.path().toString(), ContainerPlan.GUEST, true));
    }
    mounts.add(
        hostSockets()
            ? Mounts.bind(ours.folder(id).shared().toString(), ContainerPlan.RUN, false)
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
    AgentSandbox sandbox = links.make(spec.id(), container, spec.limits().timeout());
    verification.verify(container, sandbox, plan.runtime(), plan.facts());
    FirstSteps.take(sandbox, spec, deadline::left);
    return sandbox;
  }

  /** Makes sure once more that it is what it was made as; the engine may be another by now. */
  void verifyAgain(Container container, AgentSandbox sandbox) {
    Facts facts = state.now();
    verification.verify(container.id(), sandbox, runtime(facts), facts);
  }

  /** Starts it again, with what it bears itself. */
  void bootAgain(Container container, SandboxId id, Deadline deadline) throws IOException {
    byte[] boot = keys.open(id, container.labels().getOrDefault(Labels.BOOT, ""));
    if (hostSockets()) {
      ours.folder(id).open();
    }
    boot(container.id(), id, BootRecord.again(boot, made(container)), deadline);
  }

  /** To the moment: an image that was fetched just before is none of what was written. */
  private Instant made(Container container) {
    try {
      return engine
          .inspect(container.id())
          .map(node -> Instant.parse(node.text("Created")))
          .orElse(container.createdAt());
    } catch (DateTimeParseException strange) {
      return container.createdAt();
    }
  }

  private void boot(String container, SandboxId id, byte[] record, Deadline deadline)
      throws IOException {
    Boot.start(engine, container, id, record, deadline);
    if (hostSockets()) {
      ours.folder(id).close();
    }
  }

  /** Removes everything; then it is known after all what came of it. */
  private RuntimeException undone(SandboxSpec spec, Deadline deadline, RuntimeException e) {
    removal.cleanUp(spec.id(), e);
    if (!(e instanceof OutcomeUnknown unknown)) {
      return e;
    }
    return Fault.of(
            deadline.over() ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.PROVIDER_UNAVAILABLE,
            unknown.fault().what(),
            unknown.fault().remedy())
        .sandbox(spec.id())
        .exception(e);
  }

  private SandboxException unmakeable(SandboxId id, IOException e) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "the sandbox's folder cannot be made: " + e.getMessage(),
            "check space and rights of " + ours.context().dataFolder())
        .sandbox(id)
        .exception(e);
  }
}
