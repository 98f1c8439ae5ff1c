package dev.isola.spi.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SignalTest {

  @ParameterizedTest
  @CsvSource({
    "TERM,15",
    "SIGTERM,15",
    "sigterm,15",
    "term,15",
    "15,15",
    "' KILL ',9",
    "9,9",
    "09,9",
    "HUP,1",
    "SYS,31",
    "64,64",
    "1,1",
    "WINCH,28",
    "USR1,10",
    "SIGUSR2,12",
    "STOP,19",
    "CONT,18"
  })
  void parsesNamesAndNumbers(String text, int number) {
    assertThat(Signal.parse(text)).contains(new Signal(number));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "0",
        "65",
        "99",
        "999",
        "-1",
        "+1",
        "SIG",
        "TERMINATE",
        "SIGSIGTERM",
        "1.5",
        "٣"
      })
  void rejectsUnknownSignals(String text) {
    assertThat(Signal.parse(text)).isEmpty();
  }

  @Test
  void everyNumberIsFoundByItsName() {
    for (int number = 1; number <= 31; number++) {
      Signal signal = new Signal(number);
      assertThat(Signal.parse(signal.name())).contains(signal);
    }
  }

  @Test
  void isShownByName() {
    assertThat(Signal.TERM).hasToString("SIGTERM");
    assertThat(new Signal(40)).hasToString("SIG40");
  }

  @Test
  void constantsHaveLinuxNumbers() {
    assertThat(Signal.HUP.number()).isEqualTo(1);
    assertThat(Signal.INT.number()).isEqualTo(2);
    assertThat(Signal.QUIT.number()).isEqualTo(3);
    assertThat(Signal.KILL.number()).isEqualTo(9);
    assertThat(Signal.USR1.number()).isEqualTo(10);
    assertThat(Signal.USR2.number()).isEqualTo(12);
    assertThat(Signal.TERM.number()).isEqualTo(15);
    assertThat(Signal.CONT.number()).isEqualTo(18);
    assertThat(Signal.STOP.number()).isEqualTo(19);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 65})
  void numbersAreOneToSixtyFour(int number) {
    assertThatIllegalArgumentException().isThrownBy(() -> new Signal(number));
  }

  @Test
  void terminalSizesAndExecutionIdsAreBounded() {
    assertThat(new TerminalSize(1, 65_535).rows()).isEqualTo(65_535);
    assertThatIllegalArgumentException().isThrownBy(() -> new TerminalSize(0, 24));
    assertThatIllegalArgumentException().isThrownBy(() -> new TerminalSize(80, 65_536));
    assertThat(new ExecutionId("aZ0-_")).hasToString("aZ0-_");
    assertThatIllegalArgumentException().isThrownBy(() -> new ExecutionId(""));
    assertThatIllegalArgumentException().isThrownBy(() -> new ExecutionId("a/b"));
    assertThatIllegalArgumentException().isThrownBy(() -> new ExecutionId("a".repeat(65)));
  }
}
