package dev.isola.engine.api.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.BuildLogEntry.Level;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Builds an image from a recipe: runs its steps in a sandbox and exports the file system of the
 * sandbox. Destroys the sandbox before it returns.
 *
 * @param uploads opens the archive with a given SHA-256
 * @param defaultProvider the provider of builds that name none
 */
record BuildRunner(
    SandboxCreator creator,
    Sandboxes sandboxes,
    TemplateImages images,
    BuildBaseResolver bases,
    BuildCache cache,
    Function<String, InputStream> uploads,
    String defaultProvider) {
  /** The label on the sandbox of a build; its value is the build id. */
  static final String LABEL = "isola.build";

  /** The label on the sandboxes of all builds; its value is {@link #KIND}. */
  static final String KIND_LABEL = "isola.kind";

  static final String KIND = "build";

  /** The key in the context of an error: the number of the failed step. */
  static final String STEP = "step";

  private static final Duration LONGEST = Duration.ofHours(1);
  private static final SecureRandom RANDOM = new SecureRandom();

  /** The working directory of a build, and the default one of sandboxes. */
  private static final String WORKSPACE = "workspace";

  private static final List<String> NOT_IN_TEMPLATE =
      Stream.concat(ImageExport.NOT_IN_IMAGE.stream(), Stream.of(WORKSPACE)).toList();

  /** The inputs of a build. */
  record Plan(String build, ImageTarget target, Recipe recipe, BuildSettings settings) {}

  /** A sandbox in which the first steps are already done. */
  private record StartedBuild(SandboxId id, int steps) {}

  /** Builds the image and returns the defaults of sandboxes created from it. */
  Recipe.Defaults build(Plan plan, BuildLogWriter log) throws IOException {
    BuildBase base =
        bases.resolve(plan.recipe().base(), words -> log.info(words, Optional.empty()));
    return needsSandbox(base, plan.recipe().steps())
        ? buildInSandbox(plan, base, log)
        : shareFilesOfBase(plan, base, log);
  }

  /**
   * Returns whether a step changes files, a user has to be created, or it is not known whether the
   * users of the steps exist.
   */
  private boolean needsSandbox(BuildBase base, List<BuildStep> steps) {
    Optional<String> image = base.image().filter(name -> images.find(name).isPresent());
    if (image.isEmpty() || steps.stream().anyMatch(BuildStepRunner::changesFiles)) {
      return true;
    }
    Stream<String> created = base.createUser() ? Stream.of(base.defaults().user()) : Stream.empty();
    Stream<String> named =
        steps.stream()
            .filter(BuildStep.User.class::isInstance)
            .map(BuildStep.User.class::cast)
            .map(BuildStep.User::name);
    return !Stream.concat(created, named).allMatch(user -> images.hasUser(image.get(), user));
  }

  /** Builds an image with the files of the base, which are not copied. */
  private Recipe.Defaults shareFilesOfBase(Plan plan, BuildBase base, BuildLogWriter log) {
    BuildEnvironment environment = new BuildEnvironment(base.defaults());
    int number = 0;
    for (BuildStep step : plan.recipe().steps()) {
      number++;
      log.info(step.text(), Optional.of(number));
      environment.apply(step);
    }
    Recipe.Defaults defaults = defaults(plan, base, environment);
    log.info("sharing the files of the base", Optional.empty());
    images.addLayer(
        plan.target().name(),
        new TemplateImages.Layer(
            base.image().orElseThrow(), List.of(), List.of(), Optional.empty()),
        ImageBuilds.metadata(plan.target(), plan.recipe(), defaults));
    return defaults;
  }

  private Recipe.Defaults buildInSandbox(Plan plan, BuildBase base, BuildLogWriter log)
      throws IOException {
    List<String> keys =
        base.key().map(key -> BuildKeys.of(key, plan.recipe().steps())).orElse(List.of());
    StartedBuild started = begin(plan, base, keys, log);
    try {
      Sandbox sandbox = sandboxes.get(started.id());
      BuildEnvironment environment = new BuildEnvironment(base.defaults());
      if (base.createUser() && started.steps() == 0) {
        createUser(sandbox, base.defaults(), log);
      }
      BuildStepRunner steps = new BuildStepRunner(sandbox, environment, log, uploads);
      run(plan.recipe().steps(), started, steps, stepCache(sandbox, keys, log));
      Recipe.Defaults defaults = defaults(plan, base, environment);
      log.info("storing the file system as an image", Optional.empty());
      new ImageExport(images)
          .store(
              sandbox,
              base.image(),
              emptied(plan.target()),
              plan.target().name(),
              ImageBuilds.metadata(plan.target(), plan.recipe(), defaults));
      return defaults;
    } finally {
      destroy(started.id(), log);
    }
  }

  private static void createUser(Sandbox sandbox, Recipe.Defaults defaults, BuildLogWriter log) {
    if (new UserCreator(sandbox).createIfMissing(defaults.user(), defaults.cwd())) {
      log.info("created the user " + defaults.user(), Optional.empty());
    }
  }

  private static Recipe.Defaults defaults(Plan plan, BuildBase base, BuildEnvironment environment) {
    return environment.defaults(
        plan.recipe().start().or(base.defaults()::start),
        plan.recipe().ready().or(base.defaults()::ready));
  }

  private static List<String> emptied(ImageTarget target) {
    return target.template() ? NOT_IN_TEMPLATE : ImageExport.NOT_IN_IMAGE;
  }

  /** Caches the file system after a step. */
  private interface StepCache {
    void keep(int index);
  }

  private static void run(
      List<BuildStep> all, StartedBuild started, BuildStepRunner steps, StepCache stepCache) {
    for (int index = 0; index < all.size(); index++) {
      BuildStep step = all.get(index);
      if (index < started.steps()) {
        steps.skip(step, index + 1);
        continue;
      }
      try {
        steps.run(step, index + 1);
      } catch (SandboxException e) {
        throw e.fault().with(STEP, Integer.toString(index + 1)).exception(e);
      }
      if (BuildStepRunner.changesFiles(step)) {
        stepCache.keep(index);
      }
    }
  }

  private StepCache stepCache(Sandbox sandbox, List<String> keys, BuildLogWriter log) {
    if (keys.isEmpty() || !BuildCache.canSave(sandbox)) {
      return index -> {};
    }
    return index -> {
      try {
        cache.save(sandbox.id(), keys.get(index));
      } catch (SandboxException e) {
        log.line(
            Level.WARN,
            "the step could not be cached: " + e.fault().problem(),
            Optional.of(index + 1));
      }
    };
  }

  /** Starts from the cache, or from the base if the cache cannot be used. */
  private StartedBuild begin(Plan plan, BuildBase base, List<String> keys, BuildLogWriter log) {
    Optional<BuildCache.Hit> hit = keys.isEmpty() ? Optional.empty() : cached(keys, log);
    if (hit.isPresent()) {
      String snapshot = hit.get().snapshot();
      try {
        return new StartedBuild(
            create(plan, Optional.of(SnapshotImageName.of(snapshot))), hit.get().steps());
      } catch (SandboxException e) {
        log.line(
            Level.WARN,
            "the build continues without the cache, which cannot be used: " + e.fault().problem(),
            Optional.empty());
        if (!e.code().isRetryable()) {
          evict(snapshot, log);
        }
      }
    }
    return new StartedBuild(create(plan, base.image()), 0);
  }

  private Optional<BuildCache.Hit> cached(List<String> keys, BuildLogWriter log) {
    try {
      return cache.find(keys);
    } catch (SandboxException e) {
      log.line(Level.WARN, "the cache cannot be read: " + e.fault().problem(), Optional.empty());
      return Optional.empty();
    }
  }

  /**
   * Removes a cached snapshot that is damaged or whose base image is gone, because it can never be
   * used.
   */
  private void evict(String snapshot, BuildLogWriter log) {
    try {
      cache.remove(snapshot);
    } catch (SandboxException e) {
      log.line(
          Level.WARN,
          "the snapshot "
              + snapshot
              + " could not be removed from the cache: "
              + e.fault().problem(),
          Optional.empty());
    }
  }

  private SandboxId create(Plan plan, Optional<String> image) {
    SandboxSpec.Builder spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .user("root")
            .cwd("/")
            .network(network(plan.settings().network()));
    image.ifPresent(spec::image);
    String provider = plan.settings().provider();
    return creator
        .create(
            SandboxRequest.of(
                    CreateRequest.of(
                            spec.build(),
                            ProviderNames.canonical(
                                provider.isEmpty() ? defaultProvider : provider))
                        .withTtl(LONGEST))
                .withHostAccess() // building templates requires scope admin
                .withLabels(Map.of(LABEL, plan.build(), KIND_LABEL, KIND)),
            false)
        .view()
        .id();
  }

  /** Returns the network of the steps. A filtered one allows what the operator does not deny. */
  private static Network network(NetworkMode mode) {
    return switch (mode) {
      case NONE -> Network.DEFAULT;
      case FILTERED ->
          Network.filtered(
              new Egress(
                  Optional.of(EgressAction.ALLOW),
                  List.of(),
                  List.of(),
                  Map.of(),
                  List.of(),
                  false,
                  Egress.Limits.NONE));
      case BRIDGE, HOST -> Network.of(mode);
    };
  }

  /** Destroys the sandbox even if the build was cancelled. */
  private void destroy(SandboxId id, BuildLogWriter log) {
    boolean interrupted = Thread.interrupted();
    try {
      sandboxes.destroy(id, DestroyOptions.FORCE);
    } catch (SandboxException e) {
      log.line(
          Level.WARN,
          "the sandbox of the build will be destroyed later: " + e.fault().problem(),
          Optional.empty());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
