package dev.isola.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.dependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import dev.isola.engine.Engine;
import dev.isola.server.route.SandboxIds;
import dev.isola.spi.SandboxId;
import java.net.UnixDomainSocketAddress;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks the dependencies between modules: codec is below everything; contract, then guest, then
 * host, then provider; contract, then store and snapshot, then engine, then server, then compat;
 * app may use everything except bench; embedded starts the server of app; integrations use client.
 * Packages of a module have no cycles.
 */
class ArchitectureTest {
  private static final JavaClasses ISOLA =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.isola");

  /** Fixtures in test packages named wrong; together they violate every rule. */
  private static final JavaClasses WRONG =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
          .withImportOption(location -> location.contains("/wrong/"))
          .importPackages("dev.isola");

  /** The API of the server for extensions. */
  private static final String[] SHARED =
      Stream.of("access", "auth", "content", "context", "error", "limit", "route")
          .map(name -> "dev.isola.server." + name)
          .toArray(String[]::new);

  static Stream<ArchRule> rules() {
    return Stream.of(
        classes()
            .that(resideInAPackage("dev.isola.spi.."))
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("dev.isola.spi..", "java..", "org.jspecify.annotations"),
        folder("codec"),
        folder("link", "spi"),
        folder("scripts", "spi"),
        folder("archive", "spi"),
        folder("document", "spi"),
        folder("host", "spi", "document", "archive", "link"),
        folder("provider", "spi", "document", "archive", "link", "scripts", "host"),
        folder("conformance", "spi"),
        folder("testing", "spi", "conformance", "link", "provider"),
        noClasses()
            .that(not(resideInAPackage("dev.isola.testing..")))
            .should(dependOnClassesThat(resideInAPackage("dev.isola.testing.."))),
        folder("store", "spi", "document"),
        folder("egress", "spi"),
        folder("engine", "spi", "document", "store", "snapshot", "egress"),
        slices().matching("dev.isola.provider.(*)..").should().notDependOnEachOther(),
        noClasses()
            .that(
                not(
                    resideInAnyPackage(
                        "dev.isola.app..", "dev.isola.bench..", "dev.isola.embedded..")))
            .should(
                dependOnClassesThat(resideInAnyPackage("dev.isola.app..", "dev.isola.bench.."))),
        folder("embedded", "spi", "document", "link", "engine", "server", "client", "app"),
        noClasses()
            .that(resideInAPackage("dev.isola.embedded.."))
            .should(
                dependOnClassesThat(
                    resideInAPackage("dev.isola.app..")
                        .and(not(resideInAnyPackage("dev.isola.app.serve", "dev.isola.app.cli"))))),
        noClasses()
            .that(not(resideInAPackage("dev.isola.embedded..")))
            .should(dependOnClassesThat(resideInAPackage("dev.isola.embedded.."))),
        noClasses()
            .that(resideInAPackage("dev.isola.app.."))
            .should(dependOnClassesThat(resideInAPackage("dev.isola.bench.."))),
        classes().should(BE_IN_A_NULL_MARKED_PACKAGE),
        noClasses().should().haveNameMatching(".*(Utils?|Manager|Helper)"),
        // The runner is on the class path of all tests that ./check runs.
        noClasses()
            .that(not(resideInAnyPackage("dev.isola.app..", "dev.isola.testing.runner..")))
            .should(ACCESS_STANDARD_STREAMS),
        noClasses().should(USE_JAVA_UTIL_LOGGING),
        folder("server", "spi", "document", "snapshot", "engine", "egress"),
        classes()
            .that(
                resideInAnyPackage(
                    "dev.isola.server..",
                    "dev.isola.compat..",
                    "dev.isola.dashboard..",
                    "dev.isola.embedded..",
                    "dev.isola.app.."))
            .should(EngineUse.ONLY_THE_API),
        noClasses()
            .that(
                resideInAnyPackage("dev.isola.link..", "dev.isola.host..", "dev.isola.provider.."))
            .should(dependOnClassesThat(resideInAPackage("dev.isola.document.request.."))),
        noClasses()
            .that(resideInAPackage("dev.isola.server.."))
            .should(dependOnClassesThat(resideInAPackage("dev.isola.compat.."))),
        noClasses()
            .that(resideInAnyPackage("dev.isola.server..", "dev.isola.compat.."))
            .and(not(resideInAPackage("dev.isola.server.auth")))
            .and(not(equivalentTo(SandboxIds.class)))
            .and()
            .haveSimpleNameNotEndingWith("McpSessions")
            .and()
            .haveSimpleNameNotEndingWith("E2bTemplateRoutes")
            .should(CREATE_SANDBOX_IDS),
        folder("compat", "spi", "document", "snapshot", "engine", "server"),
        noClasses()
            .that(resideInAPackage("dev.isola.compat.."))
            .should(
                dependOnClassesThat(
                    resideInAPackage("dev.isola.server..").and(not(resideInAnyPackage(SHARED))))),
        folder("dashboard", "spi", "server"),
        noClasses()
            .that(not(resideInAnyPackage("dev.isola.dashboard..", "dev.isola.app..")))
            .should(dependOnClassesThat(resideInAPackage("dev.isola.dashboard.."))),
        folder("client"),
        folder("integrations", "client"),
        noClasses()
            .that(not(resideInAPackage("dev.isola.integrations..")))
            .should(dependOnClassesThat(resideInAPackage("dev.isola.integrations.."))),
        folder("snapshot", "spi", "archive"),
        noClasses()
            .that(not(resideInAPackage("dev.isola.codec.json..")))
            .should(dependOnClassesThat(resideInAPackage("tools.jackson.."))),
        noClasses()
            .that(
                not(
                    resideInAnyPackage(
                        "dev.isola.link..",
                        "dev.isola.provider.docker.http..",
                        "dev.isola.provider.microvm..",
                        "dev.isola.testing..")))
            .should(dependOnClassesThat(equivalentTo(UnixDomainSocketAddress.class))),
        noClasses()
            .that(not(resideInAnyPackage("dev.isola.codec.tar..", "dev.isola.conformance.check..")))
            .should()
            .haveNameMatching(
                ".*\\.Tar(Block|Entry|Head|Header|Input|Output|Reader|Stream|Writer)?"),
        slices().assignedFrom(PACKAGES).should().beFreeOfCycles());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rules")
  void holds(ArchRule rule) {
    rule.check(ISOLA);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rules")
  void canFail(ArchRule rule) {
    assertThat(rule.evaluate(WRONG).hasViolation()).as(rule.getDescription()).isTrue();
  }

  @Test
  void everyExceptionOfTheEngineIsNeeded() {
    assertThat(EngineUse.ALL.stream().filter(use -> !use.isNeededBy(ISOLA))).isEmpty();
  }

  @Test
  void bothFixturesThatLookBehindTheApiOfTheEngineAreRefused() {
    assertThat(
            classes()
                .that(resideInAPackage("dev.isola.server.wrong"))
                .should(EngineUse.ONLY_THE_API)
                .evaluate(WRONG)
                .getFailureReport()
                .getDetails())
        .anyMatch(line -> line.contains("EngineInternalsUser"))
        .anyMatch(line -> line.contains("LedgerReader"));
  }

  @Test
  void engineIsTheOnlyPublicClassOfItsPackage() {
    assertThat(
            ISOLA.get(Engine.class).getPackage().getClasses().stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(JavaClass::isTopLevelClass))
        .containsExactly(ISOLA.get(Engine.class));
  }

  @Test
  void exceptionOfTheEngineThatNoClassNeedsIsFound() {
    EngineUse unneeded = new EngineUse("dev.isola.dashboard", "dev.isola.store", "none");
    assertThat(unneeded.isNeededBy(ISOLA)).isFalse();
  }

  /** A folder may use its own packages, the codecs and the packages named. */
  private static ArchRule folder(String name, String... known) {
    String[] allowed =
        Stream.concat(Stream.of(name, "codec"), Stream.of(known))
            .map(folder -> "dev.isola." + folder + "..")
            .toArray(String[]::new);
    return noClasses()
        .that(resideInAPackage("dev.isola." + name + ".."))
        .should(
            dependOnClassesThat(
                resideInAPackage("dev.isola..").and(not(resideInAnyPackage(allowed)))));
  }

  /** Each package is its own slice, even if it is nested in another. */
  private static final SliceAssignment PACKAGES =
      new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
          return SliceIdentifier.of(type.getPackageName());
        }

        @Override
        public String getDescription() {
          return "packages";
        }
      };

  /**
   * Text of a request becomes an id in {@link SandboxIds} only, so that guards and operations have
   * the same one. What signed or stored data contains is an id already.
   */
  private static final ArchCondition<JavaClass> CREATE_SANDBOX_IDS =
      new ArchCondition<>("create sandbox ids") {
        @Override
        public void check(JavaClass type, ConditionEvents events) {
          Stream.<JavaCodeUnitAccess<?>>concat(
                  type.getConstructorCallsFromSelf().stream(),
                  type.getConstructorReferencesFromSelf().stream())
              .filter(access -> access.getTargetOwner().isEquivalentTo(SandboxId.class))
              .forEach(
                  access ->
                      events.add(SimpleConditionEvent.satisfied(type, access.getDescription())));
        }
      };

  private static final ArchCondition<JavaClass> BE_IN_A_NULL_MARKED_PACKAGE =
      new ArchCondition<>("be in a package whose package-info is @NullMarked") {
        @Override
        public void check(JavaClass type, ConditionEvents events) {
          boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
          events.add(
              new SimpleConditionEvent(
                  type, marked, type.getName() + " is in a package without @NullMarked"));
        }
      };
}
