package dev.isola.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The values of {@code --set} have the types of the table of fields. */
class FieldAssignmentTest {
  private static Object value(String word) {
    return FieldAssignment.parse("--set", word, Map.of()).value();
  }

  @Test
  void valuesHaveTheTypesOfTheFields() {
    assertThat(value("gpus=2")).isEqualTo(2L);
    assertThat(value("image=python:3.14")).isEqualTo("python:3.14");
    assertThat(value("init=a=b; c")).isEqualTo("a=b; c");
    assertThat(value("autoResume=true")).isEqualTo(true);
    assertThat(value("resources.cpu=0.5")).isEqualTo(new BigDecimal("0.5"));
    assertThat(value("lingerSeconds=30")).isEqualTo(30L);
    assertThat(value("require.limits=memory,cpu")).isEqualTo(List.of("memory", "cpu"));
    assertThat(value("network.exposePorts=80,8000")).isEqualTo(List.of(80L, 8000L));
    assertThat(value("tags=team=red,x=")).isEqualTo(Map.of("team", "red", "x", ""));
    assertThat(value("init.timeoutSeconds=1.5")).isEqualTo(new BigDecimal("1.5"));
    assertThat(value("network.egress.default=deny")).isEqualTo("deny");
  }

  @ParameterizedTest
  @CsvSource({
    "gpus,is not of the form FIELD=VALUE",
    "=1,is not of the form FIELD=VALUE",
    "gpu=1,did you mean 'gpus'?",
    "resources.memoryMB=1,did you mean 'memory'?",
    "networkMode=none,is not a field",
    "image.name=x,is no field",
    "gpus=many,has a value of another type",
    "autoResume=yes,has a value of another type",
    "resources=1,has a value of another type",
    "volumes=data,has a value of another type",
    "secretEnv=A=planted,would show secrets"
  })
  void invalidAssignmentIsRefused(String word, String problem) {
    assertThatThrownBy(() -> value(word))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining(problem)
        .hasMessageNotContaining("planted");
  }
}
