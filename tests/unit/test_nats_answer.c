/* What JetStream's answers to a publish mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/mailer_state.h"

static struct mailer_answer read_answer(const char *text)
{
    struct mailer_answer answer;
    mailer_answer_read(text, strlen(text), &answer);
    return answer;
}

static void acknowledgements(void **state)
{
    (void)state;
    struct mailer_answer answer = read_answer("{\"stream\":\"TARRY_DLQ\",\"seq\":17}");
    assert_int_equal(answer.kind, MAILER_ANSWER_KEPT);
    assert_int_equal(answer.sequence, 17);
    answer = read_answer("{\"stream\":\"TARRY_DLQ\",\"domain\":\"hub\",\"seq\":9007199254740992,\"duplicate\":true,\"more\":[1]}");
    assert_int_equal(answer.kind, MAILER_ANSWER_DUPLICATE);
    assert_true(answer.sequence == 9007199254740992u);
    answer = read_answer("{\"stream\":\"TARRY_DLQ\",\"seq\":17,\"duplicate\":false}");
    assert_int_equal(answer.kind, MAILER_ANSWER_KEPT);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *error;
        int kind;
        enum mailer_result result;
    } cases[] = {
        {"\"code\":503,\"err_code\":10077,\"description\":\"maximum bytes exceeded\"", MAILER_ANSWER_FAILED, MAILER_FULL},
        {"\"code\":503,\"err_code\":10077,\"description\":\"maximum messages exceeded\"", MAILER_ANSWER_FAILED, MAILER_FULL},
        {"\"code\":503,\"err_code\":10077,\"description\":\"write /x: no space left on device\"", MAILER_ANSWER_FAILED, MAILER_FULL},
        {"\"code\":503,\"err_code\":10023,\"description\":\"insufficient resources\"", MAILER_ANSWER_FAILED, MAILER_FULL},
        {"\"code\":400,\"err_code\":10002,\"description\":\"resource limits exceeded for account\"", MAILER_ANSWER_FAILED, MAILER_FULL},
        {"\"code\":503,\"err_code\":10077,\"description\":\"store is closed\"", MAILER_ANSWER_FAILED, MAILER_UNAVAILABLE},
        {"\"code\":400,\"err_code\":10060,\"description\":\"expected stream does not match\"", MAILER_ANSWER_FAILED, MAILER_UNAVAILABLE},
        {"\"code\":400,\"err_code\":10054,\"description\":\"message size exceeds maximum allowed\"", MAILER_ANSWER_FAILED, MAILER_REFUSED},
        {"\"code\":503,\"err_code\":10008,\"description\":\"JetStream system temporarily unavailable\"", MAILER_ANSWER_LATER, MAILER_KEPT},
        {"\"code\":503,\"err_code\":10118,\"description\":\"stream is offline\"", MAILER_ANSWER_LATER, MAILER_KEPT},
        {"\"code\":409,\"err_code\":10158,\"description\":\"duplicate message id is in process\"", MAILER_ANSWER_LATER, MAILER_KEPT},
        {"\"code\":400", MAILER_ANSWER_FAILED, MAILER_REFUSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"type\":\"x\",\"error\":{%s},\"stream\":\"S\",\"seq\":5}", cases[i].error);
        struct mailer_answer answer = read_answer(text);
        if ((int)answer.kind != cases[i].kind || (answer.kind == MAILER_ANSWER_FAILED && answer.result != cases[i].result)) {
            fail_msg("%s: kind %d, result %d", text, (int)answer.kind, (int)answer.result);
        }
        assert_true(answer.text[0] != '\0');
    }
}

/* Nothing but a whole acknowledgement is one. */
static void what_is_no_answer_is_asked_for_again(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "+OK", "{", "{}", "[]", "null", "\"seq\"", "{\"seq\":0}", "{\"seq\":-1}", "{\"seq\":\"5\"}", "{\"seq\":1e300}",
                                        "{\"seq\":null,\"duplicate\":true}", "{\"stream\":\"S\",\"seq\":5"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(read_answer(texts[i]).kind, MAILER_ANSWER_LATER);
    }
    struct mailer_answer answer;
    mailer_answer_read(NULL, 0, &answer);
    assert_int_equal(answer.kind, MAILER_ANSWER_LATER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledgements),
        cmocka_unit_test(refusals),
        cmocka_unit_test(what_is_no_answer_is_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
