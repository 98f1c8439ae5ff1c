package dev.isola.engine.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.lifecycle.InternalSandboxes;
import dev.isola.engine.snapshot.SnapshotService;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.BuildEntry;
import dev.isola.store.Ledger;
import dev.isola.store.TemplateEntry;
import dev.isola.store.TemplateEntry.State;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Templates of the operator, seen by all tenants: declared, built, listed and removed. Callers
 * check that the client has the scope for it.
 */
public final class TemplateService implements AutoCloseable {
  /** How many templates there may be. */
  public static final int MAX_TEMPLATES = 10_000;

  /** The label of the sandbox of a build, whose value is the build. */
  public static final String BUILD_LABEL = BuildRunner.LABEL;

  private static final int MOST_LINES = 1000;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Ledger ledger;
  private final Optional<TemplateImages> images;
  private final Uploads uploads;
  private final BuildLogs logs;
  private final BuildCache cache;
  private final BuildScheduler builds;
  private final TemplateCleanup remains;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param images where templates can be built
   * @param folder for logs and uploads
   * @param usual the provider of builds that name none
   */
  public TemplateService(
      Ledger ledger,
      Optional<TemplateImages> images,
      InternalSandboxes sandboxes,
      SnapshotService snapshots,
      Path folder,
      String usual,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.images = images;
    this.clock = clock;
    uploads = new Uploads(folder.resolve("uploads"), Uploads.LARGEST, clock);
    logs = new BuildLogs(folder.resolve("logs"), clock);
    cache = new BuildCache(snapshots, folder.resolve("cache"), clock);
    TemplateImages stored = images.orElse(TemplateImages.NONE);
    BuildRunner runner =
        new BuildRunner(
            sandboxes,
            stored,
            new BuildBaseResolver(stored, this::requireBuilt),
            cache,
            uploads::open,
            usual);
    builds = new BuildScheduler(ledger, runner, logs, clock, log);
    remains = new TemplateCleanup(ledger, stored, sandboxes, builds, logs, clock, log);
  }

  /** Returns all templates, by name. */
  public List<TemplateView> list() {
    return available().stream()
        .map(TemplateViews::of)
        .sorted(Comparator.comparing(TemplateView::name))
        .toList();
  }

  private List<TemplateEntry> available() {
    return ledger.templates().all().stream()
        .filter(entry -> entry.state() == State.AVAILABLE)
        .toList();
  }

  /**
   * Finds a template, built or not.
   *
   * @param name its id or one of its names; the tags {@code default} and {@code latest} mean none
   */
  public Optional<TemplateView> find(String name) {
    return entry(name).map(TemplateViews::of);
  }

  private Optional<TemplateEntry> entry(String name) {
    String plain = TemplateNames.withoutDefaultTag(name);
    return ledger
        .templates()
        .find(plain)
        .filter(entry -> entry.state() == State.AVAILABLE)
        .or(() -> available().stream().filter(one -> one.names().contains(plain)).findFirst());
  }

  private TemplateEntry require(String name) {
    return entry(name).orElseThrow(() -> missing("template '" + name + "' not found"));
  }

  /**
   * Returns a template from which sandboxes can be made: its {@code image} is there.
   *
   * @throws dev.isola.spi.error.NotFound when there is none, or none that was built
   */
  public TemplateView requireBuilt(String name) {
    TemplateView found = TemplateViews.of(require(name));
    if (found.image().isEmpty()) {
      throw missing("template '" + name + "' was not built yet");
    }
    return found;
  }

  /**
   * Names a template that is to be built, or asks for a new build of one that has the name. {@link
   * TemplateView#build} is the id of that build, for {@link #startBuild}.
   *
   * @param name may have a tag
   * @param tags further ones
   */
  public TemplateView declare(
      String name, List<String> tags, Optional<Long> cpus, Optional<Long> memoryMb) {
    Set<String> names = TemplateNames.of(name, tags);
    return locked(() -> TemplateViews.of(declareLocked(names, cpus, memoryMb)));
  }

  private TemplateEntry declareLocked(
      Set<String> names, Optional<Long> cpus, Optional<Long> memoryMb) {
    Optional<TemplateEntry> known = entry(names.iterator().next());
    known.ifPresent(entry -> names.addAll(entry.names()));
    Instant now = now();
    TemplateEntry entry =
        new TemplateEntry(
            known.map(TemplateEntry::id).orElseGet(() -> SandboxId.random(RANDOM).value()),
            List.copyOf(names),
            known.map(TemplateEntry::image).orElse(""),
            known
                .map(TemplateEntry::document)
                .orElseGet(() -> TemplateDocument.write(Recipe.Defaults.NONE)),
            cpus,
            memoryMb,
            UUID.randomUUID().toString(),
            State.AVAILABLE,
            known.map(TemplateEntry::createdAt).orElse(now),
            now);
    if (known.isEmpty()) {
      refuseWhenFull();
      boolean _ = ledger.templates().insert(entry);
    } else {
      boolean _ = ledger.templates().update(entry);
    }
    return entry;
  }

  private void refuseWhenFull() {
    if (ledger.templates().all().size() >= MAX_TEMPLATES) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "there are " + MAX_TEMPLATES + " templates already",
              "remove some")
          .with("limit", Integer.toString(MAX_TEMPLATES))
          .exception();
    }
  }

  private void refuseWithoutImages() {
    if (images.isEmpty()) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "templates cannot be built here: there is no store of images",
              "build them on a server that keeps images")
          .exception();
    }
  }

  /**
   * Begins the build that {@link #declare} asked for; it goes on by itself.
   *
   * @throws dev.isola.spi.error.Conflict when it was begun already, or a newer one was asked for
   * @throws dev.isola.spi.error.NotFound when the base, or an archive of a COPY, is not there
   */
  public BuildView startBuild(
      String template, String build, Recipe recipe, BuildSettings settings) {
    check(recipe);
    return locked(
        () -> {
          TemplateEntry entry = require(template);
          if (!entry.build().equals(build)) {
            throw Fault.of(ErrorCode.CONFLICT, "a newer build was asked for", "begin once more")
                .exception();
          }
          Instant now = now();
          BuildEntry begun =
              new BuildEntry(
                  build,
                  entry.id(),
                  BuildEntry.State.WAITING,
                  "template-" + build,
                  "",
                  Optional.empty(),
                  now,
                  now);
          builds.start(begun, recipe, settings);
          return TemplateViews.of(begun);
        });
  }

  /** Refuses a recipe that cannot be built, before anything is written. */
  private void check(Recipe recipe) {
    refuseWithoutImages();
    RecipeValidator.check(recipe);
    if (recipe.base() instanceof Recipe.Base.FromTemplate(String name)) {
      requireBuilt(name);
    }
    for (BuildStep step : recipe.steps()) {
      if (step instanceof BuildStep.Copy copy && !uploads.contains(copy.archive())) {
        throw Uploads.missing(copy.archive()).exception();
      }
    }
  }

  /** Declares a template and begins a build of it. */
  public BuildView build(String name, Recipe recipe, BuildSettings settings) {
    check(recipe);
    TemplateView declared = declare(name, List.of(), recipe.cpus(), recipe.memoryMb());
    return startBuild(declared.id(), declared.build(), recipe, settings);
  }

  /** Returns the builds of a template that are remembered, newest first. */
  public List<BuildView> builds(String template) {
    return ledger.templates().builds(require(template).id()).reversed().stream()
        .map(TemplateViews::of)
        .toList();
  }

  /**
   * Returns a build.
   *
   * @throws dev.isola.spi.error.NotFound when the template has no such build
   */
  public BuildView build(String template, String build) {
    return findBuild(template, build)
        .orElseThrow(() -> missing("template '" + template + "' has no build " + build));
  }

  /** Returns a build; empty when it was not begun, or is forgotten. */
  public Optional<BuildView> findBuild(String template, String build) {
    String id = require(template).id();
    return ledger
        .templates()
        .build(build)
        .filter(entry -> entry.template().equals(id))
        .map(TemplateViews::of);
  }

  /**
   * Returns lines of the log of a build.
   *
   * @param offset how many lines to skip
   * @param limit how many lines to return at most
   */
  public BuildLogPage log(String template, String build, long offset, int limit) {
    String id = build(template, build).id();
    boolean over = !builds.isRunning(id); // before the lines are read: then they are all there
    long whole = builds.log(id).map(BuildLog::lines).orElse(Long.MAX_VALUE);
    int most = Math.clamp(limit, 1, MOST_LINES);
    List<BuildLogEntry> lines = logs.read(id, offset, Math.clamp(whole - offset, 0, most));
    return new BuildLogPage(lines, offset + lines.size(), over && lines.size() < most);
  }

  /**
   * Waits until the log of a build has a line with the number {@code offset}, or the build is over.
   *
   * @return whether that is so; false when the time was up before
   */
  public boolean awaitLog(String template, String build, long offset, Duration most) {
    Optional<BuildLog> running = builds.log(build(template, build).id());
    try {
      return running.isEmpty() || running.get().await(offset, most);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Gives a template further tags. */
  public TemplateView tag(String name, List<String> tags) {
    return locked(
        () -> {
          TemplateEntry entry = require(name);
          Set<String> names = new LinkedHashSet<>(entry.names());
          names.addAll(TemplateNames.of(entry.names().getFirst(), tags));
          TemplateEntry tagged = entry.withNames(List.copyOf(names), now());
          boolean _ = ledger.templates().update(tagged);
          return TemplateViews.of(tagged);
        });
  }

  /**
   * Removes a template with its image, its builds and their logs; ends a build that goes on.
   *
   * @throws dev.isola.spi.error.Conflict while a sandbox stands on its image; it stays then
   */
  public void remove(String name) {
    TemplateEntry entry =
        locked(
            () -> {
              TemplateEntry removing = require(name).withState(State.REMOVING, now());
              boolean _ = ledger.templates().update(removing);
              return removing;
            });
    remains.remove(entry);
  }

  /** Returns whether an archive was uploaded. */
  public boolean hasArchive(String sha256) {
    return uploads.contains(sha256);
  }

  /**
   * Keeps an archive for {@link BuildStep.Copy}: a tar, with or without gzip.
   *
   * @throws dev.isola.spi.error.InvalidRequest when the content has another SHA-256
   * @throws dev.isola.spi.error.LimitExceeded when it is larger than 4 GiB
   */
  public void upload(String sha256, InputStream content) throws IOException {
    uploads.put(sha256, content);
  }

  /**
   * Keeps an archive under a name that a client chose, for {@link #findArchive}.
   *
   * @return its SHA-256
   */
  public String uploadAs(String name, InputStream content) throws IOException {
    return uploads.putAs(name, content);
  }

  /** Returns the SHA-256 of the archive that a client uploaded under a name. */
  public Optional<String> findArchive(String name) {
    return uploads.named(name);
  }

  /** Ends the builds that a restart cut off, before others are begun. */
  public void recover() {
    remains.failInterrupted();
  }

  /** Removes what a crash or a sandbox in use left: sandboxes, images and rows. */
  public void reconcile() {
    remains.reconcile();
  }

  /** Removes uploads and cached steps that no build used for a while. */
  public void removeUnused(Duration kept) {
    Instant since = clock.instant().minus(kept);
    try {
      uploads.removeUnusedSince(since);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int _ = cache.removeUnusedSince(since);
  }

  /** Cancels the builds that go on. */
  @Override
  public void close() {
    builds.close();
  }

  /** Returns the time as the ledger keeps it. */
  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private static SandboxException missing(String what) {
    return Fault.of(ErrorCode.TEMPLATE_NOT_FOUND, what, "build it first").exception();
  }
}
