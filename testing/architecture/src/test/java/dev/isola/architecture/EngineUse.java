package dev.isola.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.stream.Stream;

/**
 * Allows a package to use what is not part of the API of the engine: other packages of the engine,
 * or of the modules below it. Each has a reason, and one that no class needs is removed.
 *
 * @param user the package that may use it
 * @param used the package, or one class
 */
record EngineUse(String user, String used, String reason) {
  /** What every caller of the engine may use. */
  private static final List<String> API =
      List.of(
          "dev.isola.engine.Engine",
          "dev.isola.engine.api",
          "dev.isola.engine.config",
          // Values that the engine hands on as they are.
          "dev.isola.snapshot.manifest.Snapshot",
          "dev.isola.snapshot.SnapshotDiff",
          "dev.isola.snapshot.chunk.ChunkStore$GarbageStats",
          "dev.isola.egress.ConnectionView",
          "dev.isola.egress.Denial",
          "dev.isola.egress.EgressTotals");

  private static final List<String> HIDDEN =
      List.of("dev.isola.engine", "dev.isola.store", "dev.isola.snapshot", "dev.isola.egress");

  private static final String OPENS_AN_ENGINE = "opens and closes an engine with what it needs";
  private static final String HAS_NO_SERVER =
      "runs sandboxes, or explains a choice, without a server";
  private static final String IS_FOR_DATA_FOLDERS =
      "reads or removes data folders of stopped servers";

  static final List<EngineUse> ALL =
      List.of(
          new EngineUse("dev.isola.app.serve", "dev.isola.engine.ledger", OPENS_AN_ENGINE),
          new EngineUse("dev.isola.app.serve", "dev.isola.engine.metrics", OPENS_AN_ENGINE),
          new EngineUse("dev.isola.app.serve", "dev.isola.engine.peer", OPENS_AN_ENGINE),
          new EngineUse("dev.isola.app.serve", "dev.isola.engine.secret", OPENS_AN_ENGINE),
          new EngineUse("dev.isola.app.serve", "dev.isola.store", OPENS_AN_ENGINE),
          new EngineUse("dev.isola.app.image", "dev.isola.store", OPENS_AN_ENGINE),
          new EngineUse(
              "dev.isola.app.local", "dev.isola.engine.egress.StandaloneEgress", HAS_NO_SERVER),
          new EngineUse("dev.isola.app.local", "dev.isola.engine.lease", HAS_NO_SERVER),
          new EngineUse("dev.isola.app.local", "dev.isola.engine.placement", HAS_NO_SERVER),
          new EngineUse("dev.isola.app.local", "dev.isola.engine.selection", HAS_NO_SERVER),
          new EngineUse("dev.isola.app.operate", "dev.isola.engine.selection", HAS_NO_SERVER),
          new EngineUse("dev.isola.app.backup", "dev.isola.engine.reconcile", IS_FOR_DATA_FOLDERS),
          new EngineUse("dev.isola.app.backup", "dev.isola.store", IS_FOR_DATA_FOLDERS),
          new EngineUse("dev.isola.app.purge", "dev.isola.engine.lease", IS_FOR_DATA_FOLDERS),
          new EngineUse("dev.isola.app.purge", "dev.isola.store", IS_FOR_DATA_FOLDERS));

  /** Refuses a class that uses a package behind the API without being listed. */
  static final ArchCondition<JavaClass> ONLY_THE_API =
      new ArchCondition<>("use of the engine only its API, or what is listed in EngineUse") {
        @Override
        public void check(JavaClass type, ConditionEvents events) {
          hidden(type)
              .filter(dependency -> ALL.stream().noneMatch(use -> use.allows(dependency)))
              .forEach(
                  dependency ->
                      events.add(SimpleConditionEvent.violated(type, dependency.getDescription())));
        }
      };

  private static Stream<Dependency> hidden(JavaClass type) {
    return type.getDirectDependenciesFromSelf().stream()
        .filter(dependency -> isIn(dependency.getTargetClass(), HIDDEN))
        .filter(dependency -> !isIn(dependency.getTargetClass(), API));
  }

  private static boolean isIn(JavaClass type, List<String> names) {
    return names.stream().anyMatch(name -> isIn(type, name));
  }

  private static boolean isIn(JavaClass type, String name) {
    String own = type.getBaseComponentType().getName();
    return own.equals(name) || own.startsWith(name + ".") || own.startsWith(name + "$");
  }

  private boolean allows(Dependency dependency) {
    return isIn(dependency.getOriginClass(), user) && isIn(dependency.getTargetClass(), used);
  }

  /** Returns whether a class needs this exception. */
  boolean isNeededBy(JavaClasses classes) {
    return classes.stream()
        .filter(type -> isIn(type, user))
        .flatMap(EngineUse::hidden)
        .anyMatch(this::allows);
  }
}
