package dev.isola.provider.memory.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts become tokens, and tokens become programs. */
class ParserTest {
  private static List<String> tokens(String text) {
    Lexer lexer = new Lexer(text);
    List<String> tokens = new ArrayList<>();
    for (Token token = lexer.next(); token.kind() != Token.Kind.END; token = lexer.next()) {
      tokens.add(token.number() < 0 ? token.text() : token.number() + token.text());
    }
    return tokens;
  }

  @Test
  void cutsOperatorsAndWords() {
    assertThat(tokens("a&&b||c;d&e|f 2>>g # said\n"))
        .containsExactly("a", "&&", "b", "||", "c", ";", "d", "&", "e", "|", "f", "2>>", "g", "\n");
  }

  @Test
  void keepsTheNumberOfADescriptorApartFromAWord() {
    assertThat(tokens("echo 2 >&1")).containsExactly("echo", "2", ">&", "1");
    assertThat(tokens("echo x2>f")).containsExactly("echo", "x2", ">", "f");
  }

  @Test
  void readsQuotesAndExpansions() {
    Word word = new Lexer("a'b c'\"d $E\"${F:-g}$(h $(i))$((1+2))").next().word();
    assertThat(word.parts())
        .containsExactly(
            new Word.Literal("a", false),
            new Word.Literal("b c", true),
            new Word.Literal("d ", true),
            new Word.Variable("E", "", Word.EMPTY, true),
            new Word.Literal("", true),
            new Word.Variable("F", ":-", new Word(List.of(new Word.Literal("g", false))), false),
            new Word.Substitution("h $(i)", false),
            new Word.Sum("1+2", false));
  }

  @Test
  void bindsAsAShellDoes() {
    Ast program = Parser.parse("a && b | c; d &");
    assertThat(program).isInstanceOf(Ast.Sequence.class);
    List<Ast> steps = ((Ast.Sequence) program).steps();
    assertThat(((Ast.AndOr) steps.getFirst()).second()).isInstanceOf(Ast.Pipeline.class);
    assertThat(steps.getLast()).isInstanceOf(Ast.Background.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"echo 'x", "if true; then", "( a", "while :; do", "a &&", "echo $(b"})
  void knowsWhatIsNotWholeYet(String text) {
    assertThatThrownBy(() -> Parser.parse(text))
        .isInstanceOfSatisfying(SyntaxError.class, e -> assertThat(e.incomplete()).isTrue());
  }

  @ParameterizedTest
  @ValueSource(strings = {"fi", "a ;; b", ") a", "done", "| a", "& a"})
  void refusesWhatIsNoProgram(String text) {
    assertThatThrownBy(() -> Parser.parse(text))
        .isInstanceOfSatisfying(SyntaxError.class, e -> assertThat(e.incomplete()).isFalse());
  }

  @Test
  void computes() {
    assertThat(Arithmetic.compute("1 + 2 * (3 - x) % 4", name -> "1")).isEqualTo(1);
    assertThat(Arithmetic.compute("-3 < 2 && !0", name -> "")).isEqualTo(1);
    assertThatThrownBy(() -> Arithmetic.compute("1 / 0", name -> ""))
        .isInstanceOf(SyntaxError.class);
    assertThatThrownBy(() -> Arithmetic.compute("1 +", name -> "")).isInstanceOf(SyntaxError.class);
  }
}
