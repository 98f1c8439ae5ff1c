package dev.isola.engine.api.template;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.BuildEntry;
import dev.isola.store.DiskReserve;
import dev.isola.store.EntryFilter;
import dev.isola.store.EntryPage;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.TemplateEntry;
import dev.isola.store.TemplateEntry.State;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Removes templates and what builds left behind: sandboxes, images, records and logs. */
final class TemplateCleanup {
  /** The number of builds kept per template. */
  private static final int BUILDS_KEPT = 20;

  private static final String RESTARTED = "the server was restarted during the build";

  private final Ledger ledger;
  private final TemplateImages images;
  private final Sandboxes sandboxes;
  private final BuildScheduler builds;
  private final BuildLogs logs;
  private final InstantSource clock;
  private final Log log;

  TemplateCleanup(
      Ledger ledger,
      TemplateImages images,
      Sandboxes sandboxes,
      BuildScheduler builds,
      BuildLogs logs,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.images = images;
    this.sandboxes = sandboxes;
    this.builds = builds;
    this.logs = logs;
    this.clock = clock;
    this.log = log;
  }

  /**
   * Removes a template that is recorded as being removed.
   *
   * @throws Conflict if a sandbox uses one of its images; the template is then available again
   */
  void remove(TemplateEntry removing) {
    Failpoint.TEMPLATE_REMOVING.reach();
    if (!builds.cancel(removing.id())) {
      log.warning(
          "the template " + removing.names() + " will be removed after its build has ended");
      return;
    }
    List<BuildEntry> all = ledger.templates().builds(removing.id());
    try {
      // Remove the image of the template last, so that it stays usable if another one cannot be
      // removed.
      Stream.concat(
              all.stream().map(BuildEntry::image).filter(one -> !one.equals(removing.image())),
              Stream.of(removing.image()))
          .filter(image -> !image.isEmpty())
          .forEach(images::remove);
    } catch (Conflict e) {
      boolean _ = ledger.templates().update(removing.withState(State.AVAILABLE, clock.instant()));
      throw e;
    }
    boolean _ = DiskReserve.freeing(() -> ledger.templates().remove(removing.id()));
    all.forEach(one -> logs.remove(one.id()));
  }

  /** Marks the builds that an earlier server left unfinished as failed. */
  void failInterrupted() {
    for (BuildEntry build : ledger.templates().builds()) {
      if (!build.state().isOver()) {
        logs.end(build.id(), RESTARTED);
        boolean _ =
            ledger.templates().update(build.failed(RESTARTED, Optional.empty(), clock.instant()));
      }
    }
  }

  /** Removes what is no longer needed; retries later what cannot be removed yet. */
  void reconcile() {
    destroySandboxes();
    for (TemplateEntry entry : ledger.templates().all()) {
      if (entry.state() == State.REMOVING) {
        attempt("template " + entry.names(), () -> remove(entry));
      }
    }
    ledger.templates().builds().stream()
        .filter(build -> build.state().isOver() && !builds.isRunning(build.id()))
        .forEach(this::removeUnlessCurrent);
    ledger.templates().builds().stream()
        .collect(Collectors.groupingBy(BuildEntry::template))
        .values()
        .forEach(this::forgetOldBuilds);
    logs.removeUnless(
        build -> builds.isRunning(build) || ledger.templates().build(build).isPresent());
  }

  private void attempt(String what, Runnable work) {
    try {
      work.run();
    } catch (SandboxException e) {
      log.warning(what + " could not be removed yet: " + e.fault().problem());
    }
  }

  private void destroySandboxes() {
    EntryFilter filter =
        EntryFilter.ALL.label(BuildRunner.KIND_LABEL, BuildRunner.KIND).notDestroyed();
    String cursor = "";
    do {
      EntryPage page = ledger.sandboxes().list(filter, cursor, SandboxEntries.MAX_LIMIT);
      for (SandboxEntry entry : page.entries()) {
        String build = entry.labels().getOrDefault(BuildRunner.LABEL, "");
        if (!builds.isRunning(build)) {
          attempt(
              "sandbox " + entry.id() + " of a build",
              () -> sandboxes.destroy(entry.id(), DestroyOptions.FORCE));
        }
      }
      cursor = page.next().orElse("");
    } while (!cursor.isEmpty());
  }

  /** Removes the image of a failed or superseded build, unless it is in use. */
  private void removeUnlessCurrent(BuildEntry build) {
    boolean current =
        ledger
            .templates()
            .find(build.template())
            .filter(one -> one.image().equals(build.image()))
            .isPresent();
    if (current || build.image().isEmpty()) {
      return;
    }
    try {
      images.remove(build.image());
      boolean _ = ledger.templates().update(build.withoutImage(clock.instant()));
    } catch (Conflict inUse) {
      // in use by sandboxes; removed when they are gone
    } catch (SandboxException e) {
      log.warning(
          "the image " + build.image() + " could not be removed yet: " + e.fault().problem());
    }
  }

  /** Removes the records of the oldest builds of a template, except those with an image. */
  private void forgetOldBuilds(List<BuildEntry> all) {
    for (BuildEntry build : all.subList(0, Math.max(0, all.size() - BUILDS_KEPT))) {
      if (build.state().isOver() && build.image().isEmpty()) {
        boolean _ = DiskReserve.freeing(() -> ledger.templates().removeBuild(build.id()));
        logs.remove(build.id());
      }
    }
  }
}
