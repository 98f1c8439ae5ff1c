package dev.isola.testing.runner;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The options of {@code ./check}.
 *
 * @param tier which tests are run
 * @param modules the modules to test, by their folders; empty means all
 * @param base the commit to compare with, if only what has changed is tested
 * @param cache whether builds of an earlier run with the same inputs are used
 * @param rerun whether tests are run that passed in an earlier run with the same inputs
 * @param test whether a test class, by its simple name, is run
 * @param fix whether sources are formatted, and nothing else is done
 * @param record whether the seconds and what was not run are written into the repository
 * @param properties the system properties of the test processes, as {@code -DNAME=VALUE}
 */
record Options(
    Tier tier,
    List<String> modules,
    Optional<String> base,
    boolean cache,
    boolean rerun,
    Optional<String> test,
    boolean fix,
    boolean record,
    List<String> properties) {

  /** How much is run. Each tier contains the one before. */
  enum Tier {
    CHECK,
    ALL,
    LONG;

    /** Returns the command that runs this tier. */
    String command() {
      return this == CHECK ? "./check" : "./check --" + name().toLowerCase(Locale.ROOT);
    }

    /** Returns the JUnit tags of the tests that this tier leaves out. */
    List<String> excluded() {
      return switch (this) {
        case CHECK -> List.of("all", "long");
        case ALL -> List.of("long");
        case LONG -> List.of();
      };
    }
  }

  static final String USAGE =
      """
      usage: ./check [--all | --long] [--changed [BASE]] [-pl MODULE,...] [-Dtest=CLASS,...]
             ./check --fix

        ./check              what guards main: every module's own tests and one of each real thing
        ./check --all        everything that runs on this machine
        ./check --long       the same with whole conformance kits, hundreds of kills, and soaks
        --changed [BASE]     the modules that differ from BASE (default: HEAD, with what is not committed),
                             and of the modules that depend on them the quick test classes
        -pl MODULE,...       these modules, such as client/java; a folder stands for all modules in it
        -Dtest=CLASS,...     test classes by their simple names; * stands for any letters
        -Disola.NAME=VALUE   a system property of the test processes
        --rerun              test also what has passed here before with the same inputs
        --no-cache           build and test also what has passed here before with the same inputs
        --record             write the seconds of suites, and what was not run, into the repository
        --fix                format the Java and C sources instead
      """;

  /** Reads the command line; {@code continuous} says that a CI system runs it. */
  static Options parse(List<String> words, boolean continuous) {
    Tier tier = Tier.CHECK;
    List<String> modules = new ArrayList<>();
    Optional<String> base = Optional.empty();
    boolean cache = !continuous;
    boolean rerun = false;
    Optional<String> test = Optional.empty();
    boolean fix = false;
    boolean record = false;
    List<String> properties = new ArrayList<>();
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      if (word.equals("--all")) {
        tier = Tier.ALL;
      } else if (word.equals("--long")) {
        tier = Tier.LONG;
        properties.addAll(List.of("-Disola.long=true", "-Disola.crash.cycles=300"));
      } else if (word.equals("--fix")) {
        fix = true;
      } else if (word.equals("--record")) {
        record = true;
        rerun = true;
      } else if (word.equals("--rerun")) {
        rerun = true;
      } else if (word.equals("--no-cache")) {
        cache = false;
      } else if (word.equals("--changed")) {
        boolean named = i + 1 < words.size() && !words.get(i + 1).startsWith("-");
        base = Optional.of(named ? words.get(++i) : "HEAD");
      } else if (word.equals("-pl") && i + 1 < words.size()) {
        modules.addAll(List.of(words.get(++i).split(",")));
      } else if (word.startsWith("-Dtest=")) {
        test = Optional.of(word.substring("-Dtest=".length()));
      } else if (word.startsWith("-Disola.")) {
        properties.add(word);
      } else {
        throw new IllegalArgumentException(
            "unknown option " + word + "\n" + USAGE.stripIndent().stripTrailing());
      }
    }
    if (base.isPresent() && !modules.isEmpty()) {
      throw new IllegalArgumentException("use either --changed or -pl");
    }
    if (record && (test.isPresent() || base.isPresent() || !modules.isEmpty())) {
      throw new IllegalArgumentException("--record needs a run of all tests of a tier");
    }
    return new Options(
        tier, List.copyOf(modules), base, cache, rerun, test, fix, record, List.copyOf(properties));
  }

  /** Returns whether a run with these options runs every test of its tier in a module. */
  boolean isWhole() {
    return test.isEmpty();
  }

  /** Returns how long each fuzz target of the C code is run: as long as those of Java. */
  String fuzzSeconds() {
    String option = "-Disola.fuzz.seconds=";
    return properties.stream()
        .filter(property -> property.startsWith(option))
        .map(property -> property.substring(option.length()))
        .findFirst()
        .orElse("60");
  }

  /** Returns which test classes are run, by their simple names. */
  Predicate<String> tests() {
    if (test.isEmpty()) {
      return name -> true;
    }
    List<String> patterns =
        List.of(test.orElseThrow().split(",")).stream()
            .map(name -> name.replace(".java", "").replace("*", ".*"))
            .toList();
    return name -> patterns.stream().anyMatch(name::matches);
  }
}
