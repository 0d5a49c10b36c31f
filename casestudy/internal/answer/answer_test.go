package answer

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

func TestProblemsAreJSONWhateverTheirWords(t *testing.T) {
	detail := "a bell \a, \"quotes\" and <tags>"
	w := httptest.NewRecorder()
	Problem(w, 400, detail)
	var got problem
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got != (problem{400, detail}) {
		t.Errorf("%v: %+v of %s", err, got, w.Body)
	}
}
