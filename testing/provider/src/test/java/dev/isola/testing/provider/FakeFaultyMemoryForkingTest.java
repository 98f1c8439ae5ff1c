package dev.isola.testing.provider;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.testing.provider.FakeFaultyMemoryForkingProvider.ForkFault;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The positive control of the checks of forks of memory: each fault of a fake is found, by the
 * check and for the reason listed, a regular expression. That correct forks pass is shown by a
 * provider that has them.
 */
@Tag("all")
class FakeFaultyMemoryForkingTest {
  @TempDir Path data;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          FILES_ONLY                | MemoryForking.programsContinueInTheSourceAndInEveryFork             | the program runs in the fork
          FILES_ONLY                | MemoryForking.runningProgramsGetOtherRandomBytesAndTheRightTime     | no such execution
          FILES_ONLY                | MemoryForking.terminalsContinue                                     | no such execution
          FILES_ONLY                | MemoryForking.attachedReaderGetsEveryByteOnce                       | the fork's output has lines
          FILES_ONLY                | MemoryForking.blockedOutputContinues                                | no such execution
          FILES_ONLY                | MemoryForking.standardInputContinues                                | no such execution
          FILES_ONLY                | MemoryForking.commandsEndOnceInEachSandbox                          | no such execution
          FILES_ONLY                | MemoryForkLifecycle.forksCanBeForked                                | no such execution
          FILES_ONLY                | MemoryForkLifecycle.forksOutliveTheSourceTheForkPointAndOneAnother  | no such execution
          FILES_ONLY                | MemoryForkLifecycle.forkPointsAreIndependentOfOneAnother            | no such execution
          FILES_ONLY                | MemoryForkLifecycle.createIsIdempotentById                          | no such execution
          FILES_ONLY                | MemoryForkLifecycle.removedOpenFileIsSavedOrNamed                   | no such execution
          FILES_ONLY                | MemoryForkLifecycle.socketInAFolderIsSavedOrNamed                   | no such execution
          FILES_ONLY                | MemoryForkLifecycle.deadlineOfAForkIsItsOwn                         | no such execution
          FILES_ONLY                | MemoryForkLifecycle.forksCanBePaused                                | "writing to standard input|before the output ends"
          FILES_ONLY                | MemoryForkLifecycle.networksAndFoldersOfTheHostAreRefused           | expected Unsupported
          RESTARTS_PROGRAMS         | MemoryForking.programsContinueInTheSourceAndInEveryFork             | a fork continues from a tick between
          RESTARTS_PROGRAMS         | MemoryForkLifecycle.forksCanBeForked                                | the value in fork 1 is ''
          REPEATS_RANDOM_BYTES      | MemoryForking.newCommandsGetOtherRandomBytes                        | are its own
          STANDING_CLOCK            | MemoryForking.newCommandsHaveTheRightTime                           | the time in
          KEEPS_THE_ID              | MemoryForking.forksHaveTheirOwnId                                   | the variable in the fork
          IS_THE_SOURCE             | MemoryForking.programsContinueInTheSourceAndInEveryFork             | a fork continues from a tick between
          IS_THE_SOURCE             | MemoryForking.filesArePrivateInBothDirections                       | the files of a fork
          IS_THE_SOURCE             | MemoryForking.commandsEndOnceInEachSandbox                          | a kill in the fork is its own
          IS_THE_SOURCE             | MemoryForkLifecycle.forksCanBeForked                                | the value in generation 0
          IS_THE_SOURCE             | MemoryForkLifecycle.forkPointsAreIndependentOfOneAnother            | the value in the memory
          LOSES_OUTPUT              | MemoryForking.attachedReaderGetsEveryByteOnce                       | the offset of output
          ENDS_THE_SOURCE           | MemoryForking.programsContinueInTheSourceAndInEveryFork             | before the output ends
          ENDS_THE_SOURCE           | MemoryForkLifecycle.removedOpenFileIsSavedOrNamed                   | no such execution
          FREEZES_TOO_LONG          | MemoryForking.programsContinueInTheSourceAndInEveryFork             | is frozen for more than 0 s
          ACCEPTS_ANY_SPEC          | MemoryForkLifecycle.anotherSpecIsRefused                            | another value of limits
          SECRET_REACHES_THE_SOURCE | MemoryForkLifecycle.environmentOfAForkIsItsOwn                      | the variables in the source
          """)
  void faultIsFound(ForkFault fault, String check, String reason) {
    CheckResult result = run(fault, check);
    assertThat(result.outcome()).as("%s", result).isEqualTo(Outcome.FAILED);
    assertThat(result.reason()).containsPattern(reason);
  }

  /** A fork of files keeps these promises, so that the faults above are what makes them fail. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "MemoryForking.forksHaveTheirOwnId",
        "MemoryForking.newCommandsGetOtherRandomBytes",
        "MemoryForking.newCommandsHaveTheRightTime",
        "MemoryForking.filesArePrivateInBothDirections",
        "MemoryForking.fileOperationsWorkInForks",
        "MemoryForkLifecycle.anotherSpecIsRefused",
        "MemoryForkLifecycle.destroyDuringAForkLeavesNothing"
      })
  void promiseThatFilesAloneKeep(String check) {
    CheckResult result = run(ForkFault.FILES_ONLY, check);
    assertThat(result.outcome()).as("%s", result).isEqualTo(Outcome.PASSED);
  }

  private CheckResult run(ForkFault fault, String id) {
    ProviderUnderTest underTest =
        new ProviderUnderTest(
            new FakeFactory(fault), ProviderConfig.EMPTY, new InstanceId("fake"), data);
    CheckCase check =
        Stream.of("MemoryForking", "MemoryForkLifecycle")
            .flatMap(group -> ConformanceKit.checks(group).stream())
            .filter(one -> one.id().equals(id))
            .findFirst()
            .orElseThrow();
    try (CheckRunner runner = new CheckRunner(underTest, LeakCheck.NONE)) {
      return runner.run(check);
    }
  }

  private record FakeFactory(ForkFault fault) implements ProviderFactory {
    @Override
    public String name() {
      return TestProviderFactory.NAME;
    }

    @Override
    public ProviderProfile profile() {
      return TestProviderFactory.PROFILE;
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      return new FakeFaultyMemoryForkingProvider(
          new TestProviderFactory().create(config, context), fault);
    }
  }
}
