package dev.isola.provider.docker;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.InstalledProgram;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Creates sandboxes atomically, and boots stopped ones again. */
final class ContainerCreator {
  /** A socket takes no space. */
  private static final int SOCKET_SPACE = 64 * 1024;

  private final EngineVariant variant;
  private final DockerProviderSettings settings;
  private final EngineApi engine;
  private final EngineState state;
  private final SandboxResources sandboxResources;
  private final SandboxKeys keys;
  private final DockerImages images;
  private final InstalledProgram agent;
  private final GuestFolder guest;
  private final AgentLinks links;
  private final SandboxRemover removal;
  private final BootIds bootIds;
  private final RuntimeVerifier verification;

  ContainerCreator(
      EngineVariant variant,
      DockerProviderSettings settings,
      EngineApi engine,
      EngineState state,
      SandboxResources sandboxResources,
      SandboxKeys keys,
      InstalledProgram agent,
      AgentLinks links,
      SandboxRemover removal,
      BootIds bootIds) {
    this.variant = variant;
    this.settings = settings;
    this.engine = engine;
    this.state = state;
    this.sandboxResources = sandboxResources;
    this.keys = keys;
    this.links = links;
    this.removal = removal;
    this.bootIds = bootIds;
    this.images = DockerImages.of(engine, settings, sandboxResources.context());
    this.agent = agent;
    this.guest = new GuestFolder(sandboxResources.context().dataFolder(), agent);
    this.verification = new RuntimeVerifier(variant, engine);
  }

  /** Creates a sandbox under its lock, or returns the existing one. */
  Sandbox create(SandboxSpec spec) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    Optional<Container> there = sandboxResources.find(spec.id());
    Optional<Sandbox> existing = there.flatMap(links::attach);
    if (existing.isPresent()) {
      return existing.get();
    }
    if (there.isPresent() || sandboxResources.folder(spec.id()).exists()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "resources remain of an earlier sandbox " + spec.id(),
              "destroy it first, or use another id")
          .sandbox(spec.id())
          .exception();
    }
    EngineInfo engineInfo = state.currentInfo();
    Optional<String> runtime = runtime(engineInfo);
    removal.removeOrphans();
    ResolvedImage image = images.resolve(spec.image(), deadline);
    byte[] boot =
        ContainerBoot.record(
                sandboxResources.context().instance(),
                variant,
                engineInfo,
                spec,
                image,
                keys.agentSecret(spec.id()))
            .encode();
    ContainerPlan plan =
        new ContainerPlan(
            sandboxResources.context().instance(),
            variant,
            spec,
            engineInfo,
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
      throw rollBack(spec, deadline, creationFailed(spec.id(), e));
    } catch (RuntimeException e) {
      throw rollBack(spec, deadline, e);
    }
  }

  /** Returns the digest of the image that a sandbox created now would use. */
  Optional<String> imageDigest(SandboxSpec spec) {
    return images.digest(spec.image());
  }

  private Optional<String> runtime(EngineInfo engineInfo) {
    return new EngineCheck(variant, settings).runtime(engineInfo);
  }

  /** Creates both the folder and the container, or neither. */
  private String container(ContainerPlan plan, Deadline deadline) {
    SandboxSpec spec = plan.spec();
    ContainerSocketFolder folder = sandboxResources.folder(spec.id());
    if (hostSockets()) {
      try {
        folder.claim(spec.id());
      } catch (IOException e) {
        throw creationFailed(spec.id(), e);
      }
    }
    try {
      if (hostSockets()) {
        folder.open();
      }
      return engine.create(sandboxResources.name(spec.id()), plan.body(), deadline);
    } catch (Conflict somebodyElses) {
      removal.removeFolder(spec.id());
      throw somebodyElses;
    } catch (IOException e) {
      throw rollBack(spec, deadline, creationFailed(spec.id(), e));
    } catch (SandboxException e) {
      throw rollBack(spec, deadline, e);
    }
  }

  private boolean hostSockets() {
    return variant.usesHostSockets(settings);
  }

  private List<Map<String, Object>> mounts(SandboxId id) {
    List<Map<String, Object>> mounts = new ArrayList<>();
    if (settings.address().local()) {
      mounts.add(Mounts.bind(guest.path().toString(), ContainerPlan.GUEST, true));
    }
    mounts.add(
        hostSockets()
            ? Mounts.bind(sandboxResources.folder(id).shared().toString(), ContainerPlan.RUN, false)
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
      engine.putArchive(container, archive.toBytes(), deadline);
    }
    boot(container, spec.id(), boot, deadline);
    AgentSandbox sandbox = links.make(spec.id(), container, spec.limits().timeout());
    verification.verify(container, sandbox, plan.runtime(), plan.engineInfo());
    SandboxInitializer.initialize(sandbox, spec, deadline::left);
    return sandbox;
  }

  /** Verifies the isolation again, because the engine may have changed since creation. */
  void verifyAgain(Container container, AgentSandbox sandbox) {
    EngineInfo engineInfo = state.currentInfo();
    verification.verify(container.id(), sandbox, runtime(engineInfo), engineInfo);
  }

  /** Starts the container again with the boot record from its own labels. */
  void bootAgain(Container container, SandboxId id, Deadline deadline) throws IOException {
    byte[] boot = keys.open(id, container.labels().getOrDefault(ContainerLabels.BOOT, ""));
    if (hostSockets()) {
      sandboxResources.folder(id).open();
    }
    boot(container.id(), id, BootRecord.forRestart(boot, made(container)), deadline);
  }

  /**
   * Returns the exact creation time: files of an image that was pulled just before do not count as
   * written.
   */
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
    bootIds.prepare();
    ContainerBoot.start(engine, container, id, record, deadline);
    if (hostSockets()) {
      ContainerSocketFolder folder = sandboxResources.folder(id);
      folder.close();
      bootIds.mount(id, folder.socket(), deadline); // Before any command can run.
    }
  }

  /** Removes everything, after which the outcome is known: nothing was created. */
  private RuntimeException rollBack(SandboxSpec spec, Deadline deadline, RuntimeException e) {
    removal.cleanUp(spec.id(), e);
    if (!(e instanceof OutcomeUnknown unknown)) {
      return e;
    }
    return Fault.of(
            deadline.over() ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.PROVIDER_UNAVAILABLE,
            unknown.fault().problem(),
            unknown.fault().remedy())
        .sandbox(spec.id())
        .exception(e);
  }

  private SandboxException creationFailed(SandboxId id, IOException e) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "the sandbox's folder cannot be created: " + e.getMessage(),
            "check the free space and the permissions of "
                + sandboxResources.context().dataFolder())
        .sandbox(id)
        .exception(e);
  }
}
