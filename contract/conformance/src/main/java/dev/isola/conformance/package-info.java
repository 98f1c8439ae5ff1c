/**
 * The kit every provider passes. A check is a method that says with {@link
 * dev.isola.conformance.Check} which requirement it guards; it gets a {@link
 * dev.isola.conformance.Subject} and throws when a promise is not kept. {@link
 * dev.isola.conformance.kit.Kit} knows all checks, {@link dev.isola.conformance.CheckRunner} runs
 * them against a provider, {@link dev.isola.conformance.junit.ConformanceTest} shows them to JUnit.
 *
 * <p>A result is passed, failed, or not run with a reason. There is no silent skip: a check that
 * needs something that the provider does not declare, or a tool the sandbox does not have, says so.
 */
@NullMarked
package dev.isola.conformance;

import org.jspecify.annotations.NullMarked;
