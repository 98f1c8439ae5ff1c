package dev.isola.compat.e2b.template;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.lifecycle.Order;
import dev.isola.server.context.Images;
import dev.isola.server.context.Serving;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/**
 * Builds templates: the instructions run in a sandbox, and what its file system is then becomes an
 * image. A build that a restart of the server cut off has failed.
 */
final class Builds {
  private static final Duration LONGEST = Duration.ofHours(1);
  private static final int AT_ONCE = 2;
  private static final int MOST_REMEMBERED = 1000;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** What belongs to the sandbox and not to the image. */
  private static final List<String> NOT_IN_IMAGE =
      List.of("proc/**", "sys/**", "dev/**", "tmp/**", "run/**", "workspace/**", ".isola/**");

  /**
   * What is to be built.
   *
   * @param from what it begins with
   */
  record Plan(
      Template template,
      Template from,
      List<Step> steps,
      Optional<String> start,
      Optional<String> ready) {}

  private final Serving serving;
  private final Images images;
  private final TemplateBook book;
  private final Uploads uploads;
  private final String provider;
  private final NetworkMode network;
  private final Map<String, BuildLog> logs = new ConcurrentHashMap<>();
  private final Semaphore room = new Semaphore(AT_ONCE);

  Builds(
      Serving serving,
      Images images,
      TemplateBook book,
      Uploads uploads,
      String provider,
      NetworkMode network) {
    this.serving = serving;
    this.images = images;
    this.book = book;
    this.uploads = uploads;
    this.provider = provider;
    this.network = network;
  }

  Optional<BuildLog> log(String build) {
    return Optional.ofNullable(logs.get(build));
  }

  /** Begins a build, which goes on by itself. */
  void begin(String build, Function<BuildLog, Plan> plan) {
    logs.entrySet().removeIf(each -> logs.size() > MOST_REMEMBERED && each.getValue().isOver());
    BuildLog log = new BuildLog(InstantSource.system());
    if (logs.putIfAbsent(build, log) != null) {
      throw Fault.of(ErrorCode.CONFLICT, "this build has begun already", "ask for a new one")
          .exception();
    }
    Thread.ofVirtual().name("isola-build-" + build).start(() -> run(plan, log));
  }

  private void run(Function<BuildLog, Plan> planned, BuildLog log) {
    try {
      room.acquire();
      try {
        build(planned.apply(log), log);
      } finally {
        room.release();
      }
    } catch (SandboxException e) {
      log.failed(e.fault().what() + " (" + e.fault().remedy() + ")", Optional.empty());
    } catch (IOException | RuntimeException e) {
      log.failed("the build failed: " + e, Optional.empty());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      log.failed("the server is ending", Optional.empty());
    }
  }

  private void build(Plan plan, BuildLog log) throws IOException {
    SandboxId id = null;
    try {
      id = serving.engine().create(order(plan)).entry().id();
      Sandbox sandbox = serving.engine().sandbox(id);
      Steps steps = new Steps(sandbox, plan.from(), log, uploads::open);
      int number = 0;
      for (Step step : plan.steps()) {
        number++;
        try {
          steps.run(step, number);
        } catch (SandboxException e) {
          log.failed(e.fault().what(), Optional.of(number));
          return;
        }
      }
      log.line("info", "keeping the file system as an image", Optional.empty());
      String image = "e2b-" + plan.template().id();
      try (InputStream root = sandbox.files().exportTree("/", NOT_IN_IMAGE)) {
        images.add(image, root, true);
      }
      Template was = plan.template();
      book.put(
          new Template(
              was.id(),
              was.names(),
              Optional.of(image),
              steps.env(),
              steps.user(),
              steps.folder(),
              plan.start().or(plan.from()::start),
              plan.ready().or(plan.from()::ready),
              was.cpus(),
              was.memoryMb(),
              was.build(),
              was.createdAt()));
      log.line("info", "done", Optional.empty());
      log.ready();
    } finally {
      if (id != null) {
        serving.engine().destroy(id, Destroy.FORCE);
      }
    }
  }

  private Order order(Plan plan) {
    SandboxSpec.Builder spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .user("root")
            .cwd("/")
            .network(network == NetworkMode.NONE ? Network.DEFAULT : Network.of(network));
    plan.from().image().ifPresent(spec::image);
    return Order.of(CreateRequest.of(spec.build(), ProviderNames.plain(provider)).withTtl(LONGEST))
        .withHostAccess() // templates are built with a key of scope admin
        .withLabels(Map.of("isola.e2b.build", plan.template().id()));
  }
}
